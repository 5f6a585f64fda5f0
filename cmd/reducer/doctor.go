package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/daemon"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/doctor"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
)

// examining holds the flags of doctor, and what was found.
type examining struct {
	source  source
	archive string
	config  string
	report  doctor.Report
}

func newDoctor() *cobra.Command {
	var e examining
	c := &cobra.Command{
		Use:   "doctor",
		Short: "say what is wrong with this installation, and how to mend it",
		Long: "Doctor looks at the server, the streams and their settings, the clocks, the free space, the reducer and\n" +
			"what follows it (store, mirror, archive, checkpoints), and at who may do what. It says in sentences what\n" +
			"is wrong and what to do about it. With --data it looks at a stopped data directory. It changes nothing.\n" +
			"Exit code 1: something is wrong. A note is worth knowing and does not count.",
		Example: cli.Example(
			"reducer doctor",
			"reducer doctor --nats nats://10.0.0.7:4222 --creds reducer.creds --json",
			"reducer doctor --data aiws-data --archive \"$BACKUP/aiws\"",
			"reducer doctor --nats-config secrets/nats.conf --nkey secrets/reducer.nk",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := e.run(c.Context()); err != nil {
				return coded(err)
			}
			return e.print(c)
		},
	}
	e.source.add(c)
	c.Flags().StringVar(&e.archive, "archive", "", "look at this `DIR`ectory of an archive too")
	c.Flags().StringVar(&e.config, "nats-config", "", "look at this `FILE` too, the server's configuration: which users may do too much")
	return c
}

func (e *examining) run(ctx context.Context) error {
	if e.config != "" {
		if err := e.lookAtConfig(); err != nil {
			return err
		}
	}
	if e.source.stopped() {
		return e.stopped(ctx)
	}
	conn, err := jetlog.Connect(ctx, connectOptions(&e.source.nats))
	if err != nil {
		do := "start it, or name another one with --nats"
		if !errors.Is(err, nats.ErrNoServers) {
			do = "log in as the reducer's user or an operator (--nkey, --creds): nobody else may look at the streams"
		}
		e.wrong("server", do, err.Error())
		return nil
	}
	defer conn.Close()
	return e.running(ctx, conn)
}

func (e *examining) wrong(about, do, what string) {
	e.report = append(e.report, doctor.Finding{Level: doctor.Wrong, About: about, What: what, Do: do})
}

// running looks at a server and the reducer on it.
func (e *examining) running(ctx context.Context, conn *jetlog.Conn) error {
	streams := jetlog.Streams{}
	asked := time.Now()
	found, err := streams.Inspect(ctx, conn)
	if err != nil {
		return err
	}
	answered := time.Now()
	status, silent := e.status(ctx)
	s := serverOf(conn, e.source.nats.Server())
	s.Sync, s.Embedded = status.Sync, status.Sync != ""
	if at := found[0].Asked; !at.IsZero() {
		s.Ahead = at.Sub(asked.Add(answered.Sub(asked) / 2))
	}
	s.User, s.Permissions = userOf(ctx, conn)
	e.report.Server(s, streams.Shard, status.Generation)
	e.report.Streams(streamsOf(found, answered), s.Embedded)
	if silent != nil {
		e.wrong("reducer", "start one: reducer serve", silent.Error())
		return nil
	}
	e.report.Reducer(&status, found[0].LastSeq, cli.Build(), reducer.RulesVersion)
	e.lookAtArchive(nil, 0)
	return nil
}

func (e *examining) status(ctx context.Context) (status wire.StatusResponse, err error) {
	err = e.source.asking(ctx, func(running *client.Client) error {
		status, err = running.Status(ctx)
		return err
	})
	return status, err
}

func serverOf(conn *jetlog.Conn, name string) *doctor.Server {
	nc := conn.NATS()
	return &doctor.Server{
		URL: name, Loopback: isLoopback(nc.ConnectedUrl()), Version: nc.ConnectedServerVersion(), Tested: server.VERSION,
		MaxPayload: nc.MaxPayload(), MinPayload: jetlog.MinPayload, NeedsLogin: nc.AuthRequired(), TLS: nc.TLSRequired(),
	}
}

func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// userOf asks the server who we are there and what we may publish.
func userOf(ctx context.Context, conn *jetlog.Conn) (string, *doctor.Permissions) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	m, err := conn.NATS().RequestWithContext(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return "of this check", nil
	}
	var answer struct {
		Data struct {
			User        string `json:"user"`
			Permissions *struct {
				Publish *doctor.Permissions `json:"publish"`
			} `json:"permissions"`
		} `json:"data"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil || answer.Data.Permissions == nil {
		return answer.Data.User, nil
	}
	return answer.Data.User, answer.Data.Permissions.Publish
}

func streamsOf(found []jetlog.Found, now time.Time) []doctor.Stream {
	var all []doctor.Stream
	for _, f := range found {
		s := doctor.Stream{
			Name: f.Name, Inbox: f.Inbox, Missing: f.Missing, Fault: f.Fault, Replicas: f.Replicas, Async: f.Async,
			Leader: f.Leader, Behind: f.Behind, Messages: f.Messages, Bytes: f.Bytes, MaxBytes: f.MaxBytes,
		}
		if !f.Oldest.IsZero() {
			s.Oldest = doctor.Age(now, f.Oldest)
		}
		all = append(all, s)
	}
	return all
}

// stopped looks at a data directory that no reducer uses. The private server on
// it says nothing about access and fsync.
func (e *examining) stopped(ctx context.Context) error {
	e.lookAtDirectory(e.source.data)
	log, err := openStopped(ctx, e.source.data)
	if err != nil {
		if errors.Is(err, jetlog.ErrLocked) {
			return err
		}
		e.wrong("log", "restore it from the archive (reducer import), if it is damaged", err.Error())
		e.lookAtArchive(nil, 0)
		return nil
	}
	defer log.close()
	found, err := log.offline.Inspect(ctx)
	if err != nil {
		return err
	}
	e.report.Streams(streamsOf(found, time.Now()), true)
	e.lookAtStore(log)
	last, err := log.Get(ctx, log.end)
	if err != nil && log.end > 0 {
		e.wrong("log", "restore it from the archive (reducer import)", fmt.Sprintf("its last block, %d, cannot be read: %v", log.end, err))
	}
	e.lookAtArchive(last, log.end)
	return nil
}

func (e *examining) lookAtStore(log *openedLog) {
	live, err := openLiveStore(log)
	if err != nil {
		e.wrong("store", "the next `reducer serve` builds it again by itself", err.Error())
		return
	}
	defer live.close() //nolint:errcheck // it was only read
	switch {
	case live.name == "":
		e.report = append(e.report, doctor.Finding{Level: doctor.Note, About: "store", What: "there is none; the next start makes it"})
	case live.at < log.end:
		e.report = append(e.report, doctor.Finding{Level: doctor.Fine, About: "store", What: fmt.Sprintf("it is %d blocks behind the log; the next start reads them", log.end-live.at)})
	default:
		e.report = append(e.report, doctor.Finding{Level: doctor.Fine, About: "store", What: fmt.Sprintf("it is up to date, block %d", live.at)})
	}
	list := projections.NewCheckpoints(log.dir.Checkpoints(), projections.StoreOptions{}).List()
	if len(list) > 0 {
		e.report = append(e.report, doctor.Finding{Level: doctor.Fine, About: "checkpoint", What: fmt.Sprintf("of block %d, made %s", list[0].Block, list[0].Made.Format(time.RFC3339))})
	}
}

// lookAtArchive looks at the end of an archive. last is the last block of the
// log, nil where it is not known.
func (e *examining) lookAtArchive(last []byte, end uint64) {
	if e.archive == "" {
		if e.source.stopped() {
			e.report = append(e.report, doctor.Finding{Level: doctor.Note, About: "archive", What: "it was not looked at", Do: "name it with --archive"})
		}
		return
	}
	e.lookAtDirectory(e.archive)
	reader, err := archive.OpenReader(e.archive)
	if err != nil {
		e.wrong("archive", "reducer serve --archive mends it from the log", err.Error())
		return
	}
	info, err := reader.Info(context.Background())
	switch {
	case err != nil:
		e.wrong("archive", "reducer serve --archive mends it from the log", err.Error())
	case end == 0:
		e.report.Archive(&wire.ArchiveStatus{Dir: e.archive, Block: info.LastSeq})
	case info.LastSeq > end:
		e.wrong("archive", "the log was replaced or has lost its end: restore it from the archive (reducer import)",
			fmt.Sprintf("it holds block %d, and the log ends at block %d", info.LastSeq, end))
	case info.LastSeq == end && events.BlockHash(last) != reader.LastHash():
		e.wrong("archive", "keep both, and find out which is which: reducer diff", "its last block is another one than the log's")
	default:
		e.report.Archive(&wire.ArchiveStatus{Dir: e.archive, Block: info.LastSeq, Lag: end - info.LastSeq})
	}
}

// lookAtDirectory looks at permissions, free space and what was set aside.
func (e *examining) lookAtDirectory(name string) {
	info, err := os.Stat(name)
	if err != nil {
		return // opening it says so
	}
	d := &doctor.Directory{Name: name, Mode: uint32(info.Mode() & fs.ModePerm), Free: daemon.FreeBytes(name)}
	remains, _ := filepath.Glob(filepath.Join(name, "*.bad*")) // the pattern is right
	for _, path := range remains {
		d.Remains = append(d.Remains, filepath.Base(path))
	}
	e.report.Directory(d)
}

func (e *examining) print(c *cobra.Command) error {
	out := c.OutOrStdout()
	if cli.JSON(c) {
		for i := range e.report {
			if err := ui.JSON(out, &e.report[i]); err != nil {
				return err
			}
		}
	} else {
		for _, f := range e.report {
			fmt.Fprintf(out, "%-5s  %s: %s\n", f.Level, ui.Printable(f.About), ui.Printable(f.What))
			if f.Do != "" {
				fmt.Fprintf(out, "       -> %s\n", ui.Printable(f.Do))
			}
		}
	}
	if n := e.report.Wrong(); n > 0 {
		return fmt.Errorf("%d of %d findings are wrong", n, len(e.report))
	}
	return nil
}
