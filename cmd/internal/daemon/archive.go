package daemon

import (
	"context"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// startArchive opens the archive, if one was asked for. It is closed after the
// loop has ended and while its server still runs.
func (d *daemon) startArchive() (err error) {
	if d.o.Archive == "" {
		return nil
	}
	d.archive, err = archive.StartWriter(archive.WriterOptions{
		Options: archive.Options{Dir: d.o.Archive, Log: d.o.Log},
		OpenLog: d.openLog,
	})
	if err != nil {
		return err
	}
	d.stops = append(d.stops, func() {
		if err := d.archive.Close(); err != nil {
			d.o.Log.Warn("the archive was not closed properly; what it lacks is copied at the next start", "error", err)
		}
	})
	return nil
}

// openLog opens the log on a connection of its own, once a term has begun.
func (d *daemon) openLog(ctx context.Context) (loop.Log, func(), error) {
	for d.status.Info().Terms == 0 {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	conn, err := d.dial(ctx, "aiws-reducer archive")
	if err != nil {
		return nil, nil, err
	}
	log, err := jetlog.OpenLog(ctx, conn, d.o.Streams)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return log, conn.Close, nil
}

func (d *daemon) archiveStatus() *wire.ArchiveStatus {
	if d.archive == nil {
		return nil
	}
	s := d.archive.Status()
	answer := &wire.ArchiveStatus{Block: s.Block, Dir: s.Dir, Lag: s.Lag, Missing: s.Missing}
	if s.Err != nil {
		answer.Error = s.Err.Error()
	}
	return answer
}
