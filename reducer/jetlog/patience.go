package jetlog

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// A server reads its files before it is ready. One damaged number in them can
// send it through millions of sequences that are not there, for ever and
// without a word. These bounds are far above what whole files need.
const (
	readPatienceLeast = 20 * time.Second
	readRateLeast     = 10 << 20 // bytes a second
)

// begin starts a server and waits until it has read its files. One that does
// not come to an end cannot be stopped: the error is an integrity error, and
// the process must end.
func (s *Server) begin(running *server.Server) error {
	dir := filepath.Join(s.options.StoreDir, "jetstream")
	patience := readPatienceLeast + time.Duration(sizeOf(dir)/readRateLeast)*time.Second
	done := make(chan struct{})
	go func() {
		running.Start()
		close(done)
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-late.C:
		return fmt.Errorf("embedded server: %w: it has been reading its files for %s and does not come to an end: one of them, in %s, is damaged; "+
			"restore the log from the archive, or, if the log is known to be whole, delete the stream directory of the inbox there, which holds "+
			"unanswered commands only", loop.ErrIntegrity, patience, dir)
	}
}

// sizeOf is the size of all files in a directory, in bytes; what cannot be
// looked at does not count.
func sizeOf(dir string) int64 {
	var bytes int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it may be gone since
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
