package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/reducer/transfer"
)

// importing holds the flags of import.
type importing struct {
	data  string
	until uint64
	rules int64
}

func newImport() *cobra.Command {
	var i importing
	c := &cobra.Command{
		Use:   "import SOURCE --data DIR",
		Short: "make a new data directory from an archive, another log, or a file of commands",
		Long: "Import makes a data directory that a reducer can serve. SOURCE is\n\n" +
			"  an archive (serve --archive) or a stopped data directory: all blocks are kept byte for byte, so the\n" +
			"  chain, the state and the chain heads are the same;\n" +
			"  a file of export --decisions, or - for standard input: the recorded decisions are kept, in new blocks;\n" +
			"  a file of export, or any log file with times: the commands are decided again.\n\n" +
			"What was read is checked as verify does it, and only then the directory gets its name: an import that\n" +
			"fails or is interrupted leaves nothing that could be served. The log is of a new generation, so a reducer\n" +
			"of the old log cannot write to it. Exit code 3: the source is damaged.",
		Example: cli.Example(
			"reducer import \"$BACKUP/aiws\" --data aiws-data",
			"reducer export --decisions --data old-data | reducer import - --data aiws-data",
			"reducer import testdata/quickstart.jsonl --data try",
		),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return coded(i.run(c, args[0])) },
	}
	c.Flags().StringVar(&i.data, "data", "", "data `DIR`ectory to make; it must not exist, or be empty")
	c.Flags().Uint64Var(&i.until, "until", 0, "copy blocks up to this `BLOCK` only: what can be saved of a damaged log (0 is all)")
	c.Flags().Int64Var(&i.rules, "rules", reducer.RulesVersion, "`VERSION` of the rules that made the recorded decisions of a file")
	_ = c.MarkFlagRequired("data") // the flag is there
	return c
}

func (i *importing) run(c *cobra.Command, name string) (err error) {
	if i.rules < 1 || i.rules > reducer.RulesVersion {
		return exit.Errorf(exit.Usage, "--rules %d: this build knows 1 to %d", i.rules, reducer.RulesVersion)
	}
	from, err := openImported(c, name)
	if err != nil {
		return err
	}
	defer from.close()
	if from.log == nil && i.until > 0 {
		return exit.Errorf(exit.Usage, "--until is for archives and data directories; of a file leave out lines")
	}
	shard, err := makeShard(c.Context(), i.data, transfer.NextGeneration(from.generation))
	if err != nil {
		return err
	}
	result := &imported{Source: from.kind, Generation: shard.generation, Data: i.data, shown: cli.JSON(c)}
	if err := errors.Join(i.fill(c, from, shard), c.Context().Err()); err != nil {
		return errors.Join(fmt.Errorf("import %s: %w", name, err), shard.discard())
	}
	if err := check(c, shard, result); err != nil {
		var fault *audit.Fault
		if from.log == nil && errors.As(err, &fault) {
			fault.Do = "the file is not as it was exported, or a build that decides otherwise wrote it: take another copy of it, or import it with the build that wrote it"
		}
		return errors.Join(fmt.Errorf("what was read from %s is not in order: %w", name, err), shard.discard())
	}
	if err := shard.finish(); err != nil {
		return err
	}
	return result.print(c)
}

// fill writes the new log.
func (i *importing) fill(c *cobra.Command, from *importSource, shard *newShard) error {
	ctx := c.Context()
	if from.log != nil {
		progress := ui.NewProgress(c.ErrOrStderr(), "copy", int64(from.end))
		defer progress.Done()
		last, err := transfer.Copy(ctx, from.log, shard.log, i.until, func(int) { progress.Add(1) })
		if errors.Is(err, loop.ErrIntegrity) && last > 0 {
			err = fmt.Errorf("%w; if nothing better is left, import with --until %d keeps the blocks before it", err, last)
		}
		return err
	}
	progress := ui.NewProgress(c.ErrOrStderr(), "read", -1)
	defer progress.Done()
	header := events.Header{
		RulesVersion: i.rules, Generation: shard.generation, Writer: ulid.Make().String(), Build: cli.Build(), Shards: 1,
	}
	return inScratch(func(scratch *projections.Store) error {
		return transfer.Build(ctx, transfer.FromFile(from.file), header, scratch, shard.log, progress.Add)
	})
}

// check reads the new log as verify does, into the store that will be served.
func check(c *cobra.Command, shard *newShard, result *imported) (err error) {
	store, err := projections.OpenStore(projections.StoreOptions{Dir: shard.dir.Store(), FlushEvery: -1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	info, err := shard.log.Info(c.Context())
	if err != nil {
		return err
	}
	progress := ui.NewProgress(c.ErrOrStderr(), "check", int64(info.LastSeq))
	defer progress.Done()
	walk := audit.Walk{Store: store, Decide: true, Progress: func(uint64, int) { progress.Add(1) }}
	summary, err := walk.Run(c.Context(), shard.log)
	if err != nil {
		return err
	}
	digest, err := audit.Digest(store)
	result.take(summary, walk.Cursor(), digest)
	return err
}

// importSource is what is imported: a log, or a file of commands.
type importSource struct {
	kind       string
	log        loop.Log // nil for a file
	end        uint64
	generation string // of the log's last block, or a later one
	file       io.Reader
	close      func()
}

// openImported finds out what SOURCE is and opens it.
func openImported(c *cobra.Command, name string) (*importSource, error) {
	info, err := os.Stat(name)
	if name == "-" || err == nil && info.Mode().IsRegular() {
		file, err := cli.Open(c, name)
		if err != nil {
			return nil, err
		}
		return &importSource{kind: "file", file: file, close: func() { file.Close() }}, nil
	}
	if err != nil {
		return nil, err
	}
	log, err := openDirectory(c.Context(), name)
	if err != nil {
		return nil, err
	}
	if r, ok := log.Log.(*archive.Reader); ok && !r.HasHead() {
		fmt.Fprintf(c.ErrOrStderr(), "%s has no file HEAD: it cannot be told whether blocks are missing at its end, after block %d\n", name, log.end)
	}
	kind := "data directory"
	if log.dir == nil {
		kind = "archive"
	}
	return &importSource{kind: kind, log: log, end: log.end, generation: log.generation, close: log.close}, nil
}

// openDirectory opens an archive or a stopped data directory.
func openDirectory(ctx context.Context, name string) (*openedLog, error) {
	if !archive.IsArchive(name) {
		return openStopped(ctx, name)
	}
	reader, err := archive.OpenReader(name)
	if err != nil {
		return nil, err
	}
	return opened(ctx, &openedLog{Log: reader, where: name, close: func() {}})
}

// imported says what was made.
type imported struct {
	Source       string    `json:"source"` // archive, data directory, file
	Data         string    `json:"data"`
	Generation   string    `json:"generation"`
	Blocks       uint64    `json:"blocks"`
	Commands     uint64    `json:"commands"`
	FirstCommand uint64    `json:"firstCommand"`
	LastCommand  uint64    `json:"lastCommand"`
	Decided      uint64    `json:"decidedAgain"`
	Left         []leftOut `json:"notDecidedAgain"` // never nil
	BlockHash    string    `json:"blockHash"`
	StateHash    string    `json:"stateHash"`
	StateDigest  string    `json:"stateDigest"`

	shown bool // as JSON
}

func (r *imported) take(s *audit.Summary, c state.Cursor, digest string) {
	r.Blocks, r.Commands, r.FirstCommand, r.LastCommand, r.Decided = s.Blocks, s.Commands, s.First, s.Last, s.Decided
	r.BlockHash, r.StateHash, r.StateDigest = fmt.Sprintf("%x", c.BlockHash), fmt.Sprintf("%x", c.StateHash), digest
	r.Left = []leftOut{}
	for _, left := range s.Left {
		r.Left = append(r.Left, leftOut(left))
	}
}

func (r *imported) print(c *cobra.Command) error {
	if r.shown {
		return ui.JSON(c.OutOrStdout(), r)
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	table := ui.NewTable("imported", r.Source)
	table.Row("into", filepath.Clean(r.Data))
	table.Row("blocks", number(r.Blocks))
	table.Row("commands", number(r.Commands))
	table.Row("last command", number(r.LastCommand))
	table.Row("decided again", number(r.Decided)+", with the same records")
	for _, left := range r.Left {
		table.Row("not decided again", fmt.Sprintf("%d commands of blocks %d to %d, of rules version %d", left.Commands, left.FirstBlock, left.LastBlock, left.RulesVersion))
	}
	table.Row("generation", r.Generation)
	table.Row("last block", r.BlockHash)
	table.Row("state digest", r.StateDigest)
	return table.Write(c.OutOrStdout())
}
