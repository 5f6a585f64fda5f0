// Package postgres runs the same attempts as a benchmark of the reducer, admit,
// dispatch and settle, on PostgreSQL as one would write them there: tables,
// stored functions, one transaction for each command, or sets of commands in one
// transaction. The server's programs must be installed; pgbench, which comes
// with them, makes the load. The cluster is its own, in a temporary directory,
// and listens on a socket in there only.
package postgres

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed *.sql
var sql embed.FS

// ErrMissing says that the server's programs are not installed.
var ErrMissing = errors.New("no PostgreSQL server programs: initdb, postgres, pgbench and psql are neither in PATH nor in /usr/lib/postgresql")

// Cluster is a running server with its tables filled.
type Cluster struct {
	programs map[string]string
	dir      string
	server   *exec.Cmd
	said     *os.File
	as       *syscall.Credential // whom the server runs as; nil is ourselves
}

const role = "bench"

// settings beside the defaults. Every commit is on disk before it is answered,
// as by default; checkpoints do not fall into the few seconds of a round.
var settings = []string{
	"listen_addresses=", "fsync=on", "synchronous_commit=on", "full_page_writes=on",
	"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=30min", "max_connections=64",
}

// Start makes a cluster and fills it. Close it.
func Start() (*Cluster, error) {
	c := &Cluster{programs: map[string]string{}}
	for _, name := range []string{"initdb", "postgres", "pgbench", "psql"} {
		path, err := find(name)
		if err != nil {
			return nil, err
		}
		c.programs[name] = path
	}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// find looks for a program in PATH, then where Debian puts the server's, the
// newest version first.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	paths, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(paths) == 0 {
		return "", ErrMissing
	}
	return slices.MaxFunc(paths, func(a, b string) int { return major(a) - major(b) }), nil
}

func major(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 for anything else
	return n
}

func (c *Cluster) start() (err error) {
	if c.dir, err = os.MkdirTemp("", "aiws-pg-"); err != nil {
		return err
	}
	if err := c.notAsRoot(); err != nil {
		return err
	}
	data := filepath.Join(c.dir, "data")
	initdb := c.command("initdb", "-D", data, "-U", role, "-A", "trust", "-E", "UTF8", "--locale=C")
	if text, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, text)
	}
	arguments := []string{"-D", data, "-k", c.dir}
	for _, s := range settings {
		arguments = append(arguments, "-c", s)
	}
	if c.said, err = os.Create(filepath.Join(c.dir, "said")); err != nil {
		return err
	}
	c.server = c.command("postgres", arguments...)
	c.server.Stdout, c.server.Stderr = c.said, c.said
	if err := c.server.Start(); err != nil {
		c.server = nil
		return err
	}
	if err := c.await(); err != nil {
		return err
	}
	for _, name := range []string{"schema.sql", "functions.sql", "batches.sql", "fill.sql"} {
		text, err := sql.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := c.Query(string(text)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// notAsRoot finds somebody else to run the server as, where we are root: it
// refuses that.
func (c *Cluster) notAsRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(c.dir, uid, gid)
	}
	return errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func (c *Cluster) command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(c.programs[name], arguments...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd
}

const startPatience = 30 * time.Second

func (c *Cluster) await() error {
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		_, err := c.Query("SELECT 1")
		if err == nil {
			return nil
		}
		if time.Since(began) > startPatience {
			said, _ := os.ReadFile(c.said.Name()) // the error is told in any case
			return fmt.Errorf("PostgreSQL does not start: %w\n%s", err, said)
		}
	}
}

// Query runs SQL and returns what it prints, unaligned.
func (c *Cluster) Query(text string) (string, error) {
	cmd := exec.Command(c.programs["psql"], "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", c.dir, "-U", role, "-d", "postgres")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// Version is the server's, for people.
func (c *Cluster) Version() (string, error) { return c.Query("SHOW server_version") }

// Load is how commands are sent.
type Load struct {
	Connections int
	Batch       int // commands in one transaction; 1 is one function call each
	Span        time.Duration
}

// Measured is what came of it.
type Measured struct {
	PerSecond float64       // commands
	Latency   time.Duration // of a transaction, on average
}

// commandsOfScript is how many transactions a script has: admit, dispatch, settle.
const commandsOfScript = 3

// Measure runs pgbench after a warm-up of a fifth of the span. It is an error
// when a command was not accepted.
func (c *Cluster) Measure(l Load) (Measured, error) {
	if _, err := c.pgbench(l, max(l.Span/5, time.Second)); err != nil {
		return Measured{}, err
	}
	m, err := c.pgbench(l, l.Span)
	if err != nil {
		return m, err
	}
	refused, err := c.Query("SELECT count(*) FROM decisions WHERE outcome <> 'accepted'")
	if err == nil && refused != "0" {
		err = fmt.Errorf("%s commands were refused", refused)
	}
	return m, err
}

var (
	tps     = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(`)
	latency = regexp.MustCompile(`(?m)^latency average = ([0-9.]+) ms`)
)

func (c *Cluster) pgbench(l Load, span time.Duration) (m Measured, err error) {
	script, err := writeScript(c.dir, l.Batch)
	if err != nil {
		return m, err
	}
	seconds := max(1, int(span.Round(time.Second).Seconds()))
	cmd := exec.Command(c.programs["pgbench"], "-n", "-M", "prepared", "-f", script, "-c", strconv.Itoa(l.Connections),
		"-j", strconv.Itoa(min(2, l.Connections)), "-T", strconv.Itoa(seconds), "-h", c.dir, "-U", role, "postgres")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return m, fmt.Errorf("pgbench: %w\n%s", err, text)
	}
	rate, wait := tps.FindSubmatch(text), latency.FindSubmatch(text)
	if rate == nil || wait == nil {
		return m, fmt.Errorf("pgbench says nothing of its rate:\n%s", text)
	}
	scripts, err1 := strconv.ParseFloat(string(rate[1]), 64)
	each, err2 := strconv.ParseFloat(string(wait[1]), 64)
	m.PerSecond = scripts * float64(commandsOfScript*max(l.Batch, 1))
	m.Latency = time.Duration(each / commandsOfScript * float64(time.Millisecond))
	return m, errors.Join(err1, err2)
}

// writeScript writes the script of one command a transaction, or of a batch,
// with bodies as long as those that the reducer gets.
func writeScript(dir string, batch int) (string, error) {
	name := "one.sql"
	if batch > 1 {
		name = "batch.sql"
	}
	text, err := sql.ReadFile(name)
	if err != nil {
		return "", err
	}
	filled := strings.NewReplacer(
		"@NOTE@", strings.Repeat("please ring twice ", 8), "@SIZE@", strconv.Itoa(batch),
		"@ADMIT@", body("admit", 880), "@DISPATCH@", body("dispatch", 640), "@SETTLE@", body("settle", 540),
	).Replace(string(text))
	path := filepath.Join(dir, fmt.Sprintf("%d-%s", batch, name))
	return path, os.WriteFile(path, []byte(filled), 0o644)
}

// body is a text of a length, which stands for a command's JSON.
func body(name string, size int) string {
	return name + " " + strings.Repeat("0123456789abcdef", size/16+1)[:size-len(name)-1]
}

// Close stops the server and removes everything.
func (c *Cluster) Close() error {
	var err error
	if c.server != nil {
		_ = c.server.Process.Signal(syscall.SIGINT) // a fast shutdown; it may have ended by itself
		err = c.server.Wait()
	}
	if c.said != nil {
		err = errors.Join(err, c.said.Close())
	}
	if c.dir != "" {
		err = errors.Join(err, os.RemoveAll(c.dir))
	}
	return err
}
