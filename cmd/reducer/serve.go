package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/daemon"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// defaultData is the data directory of commands that need one.
const defaultData = "aiws-data"

// serving holds the flags of serve.
type serving struct {
	nats      natsflags.Flags
	data      string
	listen    string
	config    string
	account   string
	insecure  bool
	sync      string
	replicas  int
	inbox     cli.Bytes
	log       cli.Bytes
	archive   string
	every     uint64
	scrub     cli.Bytes
	scheduler bool
	http      string
	level     slog.Level
}

func newServe() *cobra.Command {
	s := serving{inbox: jetlog.DefaultInboxBytes, scrub: defaultScrub}
	c := &cobra.Command{
		Use:   "serve",
		Short: "take commands, decide them, log the decisions",
		Long: "Serve reads commands from the inbox stream, decides each once, appends the decisions to the log and\n" +
			"keeps the projections. A NATS server with JetStream runs in the same process, on 127.0.0.1:4222, unless\n" +
			"--nats names one. A decision is on disk before anybody hears of it.\n\n" +
			"It stops on SIGINT and SIGTERM within five seconds and loses nothing, and loses nothing when it is killed.\n" +
			"When it takes commands it prints one line on standard output: ready, and the address for clients.\n" +
			"Exit codes: 1 an error, 2 usage, 3 the log is damaged, 5 another reducer writes the log.",
		Example: cli.Example(
			"reducer serve --data aiws-data",
			"reducer serve --listen 127.0.0.1:0        # a free port, printed when it is ready",
			"reducer serve --archive \"$BACKUP/aiws\"    # a second copy of the log, for reducer import",
			"reducer serve --http 127.0.0.1:9090        # metrics and health",
			"reducer serve --listen 0.0.0.0:4222 --nats-config nats.conf",
			"reducer serve --nats nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3 --creds reducer.creds",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&s.data, "data", defaultData, "data `DIR`ectory, made when missing")
	flags.StringVar(&s.nats.URL, "nats", "", "use the NATS server at this `URL` instead of the embedded one")
	flags.StringVar(&s.listen, "listen", "", "`HOST:PORT` of the embedded server (default 127.0.0.1:4222)")
	flags.StringVar(&s.config, "nats-config", "", "NATS configuration `FILE` of the embedded server: users, TLS, limits")
	flags.StringVar(&s.account, "nats-account", "", "`NAME` of the account of the streams, where the configuration has several")
	flags.BoolVar(&s.insecure, "allow-insecure-listen", false, "listen beyond loopback without authentication and TLS: whoever gets there may send anything in anybody's name")
	flags.StringVar(&s.sync, "sync", string(jetlog.SyncAlways), "always: a decision is on disk before it is answered; interval: a power failure may take the last minutes")
	flags.IntVar(&s.replicas, "replicas", 1, "copies of the streams on a cluster, with --nats")
	flags.Var(&s.inbox, "inbox-max-bytes", "size at which the inbox turns publishers away")
	flags.Var(&s.log, "log-max-bytes", "size at which the log takes no more; 0 is no limit")
	flags.StringVar(&s.archive, "archive", "", "keep a second copy of the log in this `DIR`ectory, best on another disk")
	flags.Uint64Var(&s.every, "checkpoint-blocks", 10_000, "make a checkpoint of the store every so many `BLOCKS`; 0 is never")
	flags.Var(&s.scrub, "scrub-rate", "bytes of the log to read through in a second, again and again, so that damage is found; 0 reads none")
	flags.BoolVar(&s.scheduler, "scheduler", false, "publish ticks of scheduled triggers and ends of timers as the principal scheduler")
	flags.StringVar(&s.http, "http", "", "serve /metrics, /healthz and /readyz on this `HOST:PORT`, off by default; they are open to whoever gets there")
	flags.TextVar(&s.level, "log-level", slog.LevelInfo, "log lines from this `LEVEL` on: debug, info, warn, error")
	s.nats.AddLogin(c)
	return c
}

// defaultScrub is the bytes a second of reading the log through.
const defaultScrub = 16 << 20

// stopPatience is how long a stop may take. Ending the process is always safe.
const stopPatience = 4800 * time.Millisecond

func (s *serving) run(c *cobra.Command) error {
	options, err := s.options(c)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	options.Log.Info("starting", "build", options.Build, "data", s.data)
	err = inTime(c.Context(), stopPatience, func(ctx context.Context) error { return daemon.Run(ctx, options) })
	if err != nil {
		return exit.With(loop.ExitCode(err), err)
	}
	options.Log.Info("stopped")
	return nil
}

// options checks the flags against each other and makes the daemon's options.
func (s *serving) options(c *cobra.Command) (daemon.Options, error) {
	login := connectOptions(&s.nats)
	o := daemon.Options{
		Data: s.data, Login: login, Listen: s.listen, ConfigFile: s.config, Account: s.account, AllowInsecure: s.insecure,
		Sync:    jetlog.Sync(s.sync),
		Streams: jetlog.Streams{Replicas: s.replicas, InboxBytes: int64(s.inbox), LogBytes: int64(s.log)},
		Archive: s.archive, CheckpointBlocks: s.every, ScrubRate: int64(s.scrub),
		Scheduler: s.scheduler, HTTP: s.http, Build: cli.Build(), Log: cli.Logger(c, s.level),
		Ready: func(url string) { ready(c, url) },
	}
	if o.Sync != jetlog.SyncAlways && o.Sync != jetlog.SyncInterval {
		return o, fmt.Errorf("--sync %s: want always or interval", s.sync)
	}
	if s.inbox == 0 {
		return o, fmt.Errorf("--inbox-max-bytes 0: an inbox without a limit fills the disk of the log")
	}
	if s.nats.URL == "" {
		if s.replicas != 1 {
			return o, fmt.Errorf("--replicas %d: the embedded server has one copy; use --nats with a cluster", s.replicas)
		}
		return o, nil
	}
	for _, name := range []string{"listen", "nats-config", "nats-account", "allow-insecure-listen", "sync"} {
		if c.Flags().Changed(name) {
			return o, fmt.Errorf("--%s is for the embedded server, and --nats names another one", name)
		}
	}
	login.URL = s.nats.URL
	o.External = &login
	return o, nil
}

// ready says on standard output that commands are taken, for scripts that wait.
func ready(c *cobra.Command, url string) {
	if cli.JSON(c) {
		_ = ui.JSON(c.OutOrStdout(), map[string]string{"ready": url}) // nobody has to read it
		return
	}
	fmt.Fprintf(c.OutOrStdout(), "ready %s\n", url)
}

// inTime runs f until it ends, or for a while after ctx has ended.
func inTime(ctx context.Context, patience time.Duration, f func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		return fmt.Errorf("it did not stop within %s and is ended now; nothing is lost", patience)
	}
}
