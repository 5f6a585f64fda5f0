package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/doctor"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
)

// lookAtConfig looks at the users of a server's configuration, and at who may
// change the file.
func (e *examining) lookAtConfig() error {
	options, err := server.ProcessConfigFile(e.config)
	if err != nil {
		return fmt.Errorf("--nats-config: %w", err)
	}
	info, err := os.Stat(e.config)
	if err != nil {
		return fmt.Errorf("--nats-config: %w", err)
	}
	e.report.Secret(e.config, uint32(info.Mode()&fs.ModePerm))
	if len(options.TrustedOperators) > 0 || options.AuthCallout != nil {
		e.report = append(e.report, doctor.Finding{
			Level: doctor.Note, About: "permissions", What: "the configuration leaves it to JWTs or to a service who may do what; that was not looked at",
			Do: "log in with the credentials of each kind of client: reducer doctor --creds FILE",
		})
		return nil
	}
	e.report.Users(usersOf(options), jetlog.Streams{}.Shard)
	return nil
}

// usersOf are all whom a configuration lets in, in its order.
func usersOf(o *server.Options) []doctor.User {
	var users []doctor.User
	if o.Username != "" || o.Authorization != "" {
		users = append(users, doctor.User{Name: o.Username + " (the only one)", Plain: !hashed(o.Password) && !hashed(o.Authorization)})
	}
	for _, u := range o.Nkeys {
		publish, subscribe := permissionsOf(u.Permissions)
		users = append(users, doctor.User{Name: u.Nkey, Publish: publish, Subscribe: subscribe})
	}
	for _, u := range o.Users {
		publish, subscribe := permissionsOf(u.Permissions)
		name := u.Username
		if name == o.NoAuthUser && name != "" {
			name += ", which is whoever does not log in"
		}
		users = append(users, doctor.User{Name: name, Publish: publish, Subscribe: subscribe, Plain: u.Password != "" && !hashed(u.Password)})
	}
	return users
}

// hashed says whether a password of a configuration is a bcrypt hash.
func hashed(password string) bool { return strings.HasPrefix(password, "$2") }

func permissionsOf(p *server.Permissions) (publish, subscribe *doctor.Permissions) {
	if p == nil {
		return nil, nil
	}
	return subjectsOf(p.Publish), subjectsOf(p.Subscribe)
}

func subjectsOf(p *server.SubjectPermission) *doctor.Permissions {
	if p == nil {
		return nil
	}
	return &doctor.Permissions{Allow: p.Allow, Deny: p.Deny}
}
