package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// User is somebody whom a server's configuration lets in.
type User struct {
	Name      string
	Publish   *Permissions // nil: everything
	Subscribe *Permissions // nil: everything
	Plain     bool         // the password is in the configuration as it is
}

// powers are what a user may do that few should. Each needs one of the subjects;
// x and y stand for any name.
func powers(shard int64, generation string) []power {
	n := strconv.FormatInt(shard, 10)
	return []power{
		{"delete the decision log", []string{"$JS.API.STREAM.DELETE.AIWS_LOG_" + n}},
		{"change the settings of the decision log", []string{"$JS.API.STREAM.UPDATE.AIWS_LOG_" + n}},
		{"write to the decision log", []string{"aiws.log." + n + "." + generation}},
		{"drop commands that wait", []string{
			"$JS.API.STREAM.PURGE.AIWS_INBOX_" + n, "$JS.API.STREAM.DELETE.AIWS_INBOX_" + n, "$JS.API.STREAM.MSG.DELETE.AIWS_INBOX_" + n,
		}},
		{"write rows of the KV mirror", []string{"$KV.aiws.x.runs.y"}},
		{"send commands in anybody's name", []string{"aiws.cmd.x.y.admit", "aiws.cmd.x.y.approve", "aiws.submit.x.y.admit", "aiws.submit.x.y.approve"}},
	}
}

type power struct {
	what     string
	subjects []string
}

// reducers are how many users may do what the reducer does: itself, and an
// operator.
const reducers = 2

// Users judges who may do what under a server's configuration. Whoever may do all
// that the reducer has to is taken for it, or for an operator.
func (r *Report) Users(users []User, shard int64) {
	if len(users) == 0 {
		r.wrong("permissions", "give each kind of client a user with permissions of its own (reducer init)", "the configuration has no users: nobody has to log in")
		return
	}
	var wide []string
	clients := 0
	for i := range users {
		u := &users[i]
		switch may := u.may(shard, "x"); {
		case len(may) == 0:
			clients++
		case u.isReducer(shard):
			wide = append(wide, u.Name)
			r.note("user "+u.Name, "if this is neither the reducer nor an operator, take these rights away", "may %s", strings.Join(may, ", "))
		default:
			r.wrong("user "+u.Name, "take these rights away (reducer init writes narrow ones)", "may %s", strings.Join(may, ", "))
		}
		if u.Plain {
			r.note("user "+u.Name, "use an nkey, or a bcrypt hash (reducer init)", "the password is in the configuration as it is")
		}
	}
	if len(wide) > reducers {
		r.wrong("permissions", "leave them to the reducer and an operator", "%d users may do what only the reducer has to: %s", len(wide), strings.Join(wide, ", "))
	}
	r.fine("permissions", "%d of %d users send commands in their own names and do not touch the streams", clients, len(users))
}

// isReducer says whether the user may do all that the reducer does.
func (u *User) isReducer(shard int64) bool {
	n := strconv.FormatInt(shard, 10)
	return u.Publish.may("aiws.log."+n+".x") && u.Publish.may("$JS.API.STREAM.PURGE.AIWS_INBOX_"+n) && u.Publish.may("$KV.aiws.x.runs.y")
}

// may lists what the user may do that few should.
func (u *User) may(shard int64, generation string) []string {
	var list []string
	for _, p := range powers(shard, generation) {
		if slices.ContainsFunc(p.subjects, u.Publish.may) {
			list = append(list, p.what)
		}
	}
	if u.Subscribe.may("_INBOX.x.y") {
		list = append(list, "read others' answers")
	}
	return list
}

// Secret judges a file that only its owner should see.
func (r *Report) Secret(name string, mode uint32) {
	about := "file " + name
	switch {
	case mode&0o022 != 0:
		r.wrong(about, "chmod 600 "+name, "others on this machine may write it (mode %04o): they choose who may do what", mode)
	case mode&0o077 != 0:
		r.note(about, "chmod 600 "+name, "others on this machine may read it (mode %04o)", mode)
	default:
		r.fine(about, "mode %04o", mode)
	}
}
