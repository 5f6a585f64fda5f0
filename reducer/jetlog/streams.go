package jetlog

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Defaults and fixed settings of the streams (DESIGN 2).
const (
	DefaultInboxBytes  = 1 << 30
	inboxMessageBytes  = 1 << 20
	inboxPerSubject    = 65_536
	duplicateWindow    = 100 * time.Millisecond // the shortest there is: our duplicates are found by command id
	streamPrefix       = "AIWS_"                // of the names of our streams
	commandPrefix      = "aiws.cmd."
	shardCommandPrefix = "aiws.s."
)

// Streams name the streams of a shard and how they are made.
type Streams struct {
	Shard, Shards int64 // Shards 0 is one shard
	Replicas      int   // 1 when 0; the embedded server has no more
	InboxBytes    int64 // where the inbox turns publishers away; DefaultInboxBytes when 0
	LogBytes      int64 // where the log turns the reducer away; no limit when 0

	// Generation of a log that is made; a log that exists has its own.
	// Import and restore begin a new one.
	Generation string

	// Restore makes a log that is missing whatever else is there. It is for
	// who then fills it, import and restore, and for nobody who decides.
	Restore bool
}

// InboxName is the name of the inbox stream.
func (s Streams) InboxName() string { return fmt.Sprintf("AIWS_INBOX_%d", s.Shard) }

// LogName is the name of the log stream.
func (s Streams) LogName() string { return fmt.Sprintf("AIWS_LOG_%d", s.Shard) }

// logPrefix and the generation make the log's subject, so that a writer of an
// older generation reaches no stream.
func (s Streams) logPrefix() string { return fmt.Sprintf("aiws.log.%d.", s.Shard) }

// prefix is what a command's subject has in the stream in place of aiws.cmd.
func (s Streams) prefix() string {
	if s.Shards <= 1 {
		return commandPrefix
	}
	return fmt.Sprintf("%s%d.cmd.", shardCommandPrefix, s.Shard)
}

func (s Streams) replicas() int { return max(s.Replicas, 1) }

func (s Streams) inboxConfig() jetstream.StreamConfig {
	bytes := s.InboxBytes
	if bytes == 0 {
		bytes = DefaultInboxBytes
	}
	config := jetstream.StreamConfig{
		Name:                 s.InboxName(),
		Description:          "AIWS commands that wait for a decision",
		Subjects:             []string{s.prefix() + ">"},
		Retention:            jetstream.LimitsPolicy,
		Storage:              jetstream.FileStorage,
		Replicas:             s.replicas(),
		MaxMsgs:              -1,
		MaxConsumers:         -1,
		MaxBytes:             bytes,
		MaxMsgSize:           inboxMessageBytes,
		MaxMsgsPerSubject:    inboxPerSubject,
		Discard:              jetstream.DiscardNew,
		DiscardNewPerSubject: true,
		Duplicates:           duplicateWindow,
		DenyDelete:           true,
	}
	if s.replicas() == 1 {
		config.PersistMode = jetstream.AsyncPersistMode
	}
	return config
}

func (s Streams) logConfig(generation string) jetstream.StreamConfig {
	bytes := s.LogBytes
	if bytes == 0 {
		bytes = -1
	}
	return jetstream.StreamConfig{
		Name:         s.LogName(),
		Description:  "AIWS decisions: the source of truth",
		Subjects:     []string{s.logPrefix() + generation},
		Retention:    jetstream.LimitsPolicy,
		Storage:      jetstream.FileStorage,
		Replicas:     s.replicas(),
		MaxMsgs:      -1,
		MaxConsumers: -1,
		MaxBytes:     bytes,
		MaxMsgSize:   -1,

		MaxMsgsPerSubject: -1,

		Discard:     jetstream.DiscardNew,
		Duplicates:  duplicateWindow,
		DenyDelete:  true,
		DenyPurge:   true,
		Compression: logCompression,
	}
}

// logCompression makes the log a third as large for two percent of the
// processor time of a command, measured. The server compresses a file of about
// 8 MiB when it is full, and syncs it before it takes the old one's place.
const logCompression = jetstream.S2Compression

// Ensure makes the streams of the shard where they are missing and brings
// limits up to date. It returns the generation of the log.
func (s Streams) Ensure(ctx context.Context, c *Conn) (generation string, err error) {
	if generation, err = s.ensureLog(ctx, c); err != nil {
		return "", err
	}
	return generation, s.ensure(ctx, c, s.inboxConfig())
}

func (s Streams) ensureLog(ctx context.Context, c *Conn) (string, error) {
	generation, err := s.FindGeneration(ctx, c)
	switch {
	case err == nil:
	case isStreamNotFound(err):
		if err := s.mayBegin(ctx, c); err != nil {
			return "", err
		}
		generation = s.Generation
	default:
		return "", err
	}
	return generation, s.ensure(ctx, c, s.logConfig(generation))
}

// mayBegin says why a log that is not there must not be made. A server that
// cannot read the description of a stream goes on without the stream, and an
// empty log in its place would decide everything again.
func (s Streams) mayBegin(ctx context.Context, c *Conn) error {
	if s.Generation == "" {
		return fmt.Errorf("%w: no generation for a new log", loop.ErrConfig)
	}
	if s.Restore {
		return nil
	}
	if c.server != nil {
		if place := c.server.remains(s.LogName()); place != "" {
			return fmt.Errorf("%w: the server could not read the log in %s: restore it from the archive", loop.ErrIntegrity, place)
		}
	}
	stream, err := c.js.Stream(ctx, s.InboxName())
	switch {
	case isStreamNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("stream %s: %w", s.InboxName(), wireError(err))
	case stream.CachedInfo().State.LastSeq > 0:
		return fmt.Errorf("%w: there is no log %s, but its inbox was used: restore the log from the archive; to begin anew delete the inbox %s as well",
			loop.ErrIntegrity, s.LogName(), s.InboxName())
	}
	return nil
}

// FindGeneration returns the generation of an existing log: the last token of
// its subject.
func (s Streams) FindGeneration(ctx context.Context, c *Conn) (string, error) {
	stream, err := c.js.Stream(ctx, s.LogName())
	if err != nil {
		return "", fmt.Errorf("stream %s: %w", s.LogName(), wireError(err))
	}
	subjects := stream.CachedInfo().Config.Subjects
	if len(subjects) != 1 || !strings.HasPrefix(subjects[0], s.logPrefix()) || strings.HasSuffix(subjects[0], ">") {
		return "", fmt.Errorf("%w: stream %s has the subjects %q, not one %s<generation>", loop.ErrConfig, s.LogName(), subjects, s.logPrefix())
	}
	return strings.TrimPrefix(subjects[0], s.logPrefix()), nil
}

// ensure makes a stream, or checks that the one there is as it must be. Limits
// follow the configuration; everything that safety rests on must not differ.
func (s Streams) ensure(ctx context.Context, c *Conn, want jetstream.StreamConfig) error {
	stream, err := c.js.Stream(ctx, want.Name)
	if isStreamNotFound(err) {
		if _, err := c.js.CreateStream(ctx, want); err != nil {
			return fmt.Errorf("make stream %s: %w", want.Name, wireError(err))
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", want.Name, wireError(err))
	}
	have := stream.CachedInfo().Config
	if fault := differs(&have, &want); fault != "" {
		return fmt.Errorf("%w: stream %s %s", loop.ErrConfig, want.Name, fault)
	}
	if have.MaxBytes == want.MaxBytes && have.MaxMsgsPerSubject == want.MaxMsgsPerSubject && have.Replicas == want.Replicas {
		return nil
	}
	have.MaxBytes, have.MaxMsgsPerSubject, have.Replicas = want.MaxBytes, want.MaxMsgsPerSubject, want.Replicas
	if _, err := c.js.UpdateStream(ctx, have); err != nil {
		return fmt.Errorf("set the limits of stream %s: %w", want.Name, wireError(err))
	}
	return nil
}

// differs says in which way a stream must not be used as it is.
func differs(have, want *jetstream.StreamConfig) string {
	switch {
	case len(have.Subjects) != 1 || have.Subjects[0] != want.Subjects[0]:
		return fmt.Sprintf("has the subjects %q, not %q: it belongs to another set-up", have.Subjects, want.Subjects)
	case have.Storage != want.Storage:
		return "is not stored in files"
	case have.Retention != want.Retention || have.Discard != want.Discard || have.DiscardNewPerSubject != want.DiscardNewPerSubject:
		return "drops messages by itself (retention or discard policy)"
	case have.MaxAge != 0 || have.MaxMsgs > 0:
		return "has an age or a message limit"
	case have.MaxMsgSize != want.MaxMsgSize:
		return fmt.Sprintf("has max_msg_size %d, not %d", have.MaxMsgSize, want.MaxMsgSize)
	case !have.DenyDelete || have.DenyPurge != want.DenyPurge:
		return "has other deny_delete or deny_purge settings"
	case have.AllowRollup || have.AllowMsgTTL || have.AllowMsgSchedules || have.AllowMsgCounter:
		return "lets a publisher purge, expire or schedule messages (rollup, TTL, schedules or counters)"
	case have.Sealed || have.NoAck || have.Mirror != nil || len(have.Sources) > 0 || have.SubjectTransform != nil || have.RePublish != nil:
		return "is sealed, without acks, a mirror, has sources, or changes subjects"
	}
	return ""
}
