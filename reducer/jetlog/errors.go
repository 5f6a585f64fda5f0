package jetlog

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Error codes of the JetStream API that mean something to us.
const (
	codeMessageNotFound     = 10037
	codeMessageTooLarge     = 10054 // larger than the stream's max_msg_size
	codeStreamNotFound      = 10059
	codeWrongLastSequence   = 10071 // the fence refused, one replica
	codeStoreFailed         = 10077 // the stream is full, among others
	codeDuplicateInProcess  = 10158 // the fence refused, racing with another append
	codeWrongLastSequenceRn = 10164 // the fence refused, several replicas
)

// errConflict: another block is, or may soon be, where ours was to go.
var errConflict = errors.New("the log has moved on")

// apiError is the error of an answer of the JetStream API.
type apiError struct {
	Code        int    `json:"code"`
	ErrorCode   int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("%s (JetStream error %d)", e.Description, e.ErrorCode)
}

// kind puts the error in the terms of the loop.
func (e *apiError) kind() error {
	switch e.ErrorCode {
	case codeWrongLastSequence, codeDuplicateInProcess, codeWrongLastSequenceRn:
		return errConflict
	case codeMessageTooLarge:
		return loop.ErrTooLarge
	case codeMessageNotFound:
		return loop.ErrAbsent
	case codeStoreFailed:
		return errors.New("the server could not store it")
	}
	return errors.New("the server refused")
}

// wireError puts an error of the client library in the terms of the loop.
func wireError(err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &api):
		e := &apiError{Code: api.Code, ErrorCode: int(api.ErrorCode), Description: api.Description}
		return fmt.Errorf("%w: %w", e.kind(), err)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", loop.ErrTooLarge, err)
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrStaleConnection), errors.Is(err, nats.ErrConnectionDraining):
		return fmt.Errorf("%w: %w", loop.ErrLost, err)
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("no stream takes it: %w", err)
	}
	return err
}

func isStreamNotFound(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeStreamNotFound
}
