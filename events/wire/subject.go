package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Headers of commands and of decisions.
const (
	HeaderCommandID = "Aiws-Command-Id" // of a command: its id, which makes sending it again harmless
	HeaderReply     = "Aiws-Reply"      // of a command: the inbox that gets the decision; it begins with ReplyPrefix
	HeaderFinal     = "Aiws-Final"      // of a decision: "false" where the same id may be decided later
)

// ReplyPrefix is what the value of HeaderReply must begin with, else it is
// ignored; so must be one over MaxReply bytes or with a wildcard.
const (
	ReplyPrefix = "_INBOX."
	MaxReply    = 256
)

// Service is the name of the NATS micro service.
const Service = "aiws"

// Endpoint is one question that the service answers.
type Endpoint string

// The endpoints of one contract, and those of the whole shard.
const (
	Get      Endpoint = "get"
	List     Endpoint = "list"
	Decision Endpoint = "decision"
	Plan     Endpoint = "plan"

	Changes       Endpoint = "changes"
	History       Endpoint = "history"
	ListUnsettled Endpoint = "unsettled"

	Status    Endpoint = "status"
	Digest    Endpoint = "digest"
	Contracts Endpoint = "contracts"
	Heads     Endpoint = "heads"

	// What an operator asks for: it costs more, so it has a subject of its own.
	MakeCheckpoint Endpoint = "checkpoint"
	Rows           Endpoint = "rows"

	Submit Endpoint = "submit"
)

const (
	queryPrefix    = "aiws.q."
	operatorPrefix = "aiws.op."
	submitPrefix   = "aiws.submit."
	cmdPrefix      = "aiws.cmd."
)

// Global says whether the endpoint is of the whole shard and not of a contract.
func (e Endpoint) Global() bool {
	return e == Status || e == Digest || e == Contracts || e == Heads || e.operator()
}

func (e Endpoint) operator() bool { return e == MakeCheckpoint || e == Rows }

// global is the subject of a global endpoint.
func (e Endpoint) global() string {
	if e.operator() {
		return operatorPrefix + string(e)
	}
	return queryPrefix + string(e)
}

// Pattern is the subject that the service listens on for an endpoint.
func (e Endpoint) Pattern() string {
	switch {
	case e == Submit:
		return submitPrefix + "*.*.*"
	case e.Global():
		return e.global()
	}
	return queryPrefix + "*." + string(e)
}

// Subject is where a client asks: the contract is left out for a global
// endpoint.
func (e Endpoint) Subject(contract string) string {
	if e.Global() {
		return e.global()
	}
	return queryPrefix + schema.EncodeToken(contract) + "." + string(e)
}

// QueryContract returns the contract that a subject of a query names.
func QueryContract(subject string) (string, bool) {
	rest, ok := strings.CutPrefix(subject, queryPrefix)
	token, _, more := strings.Cut(rest, ".")
	if !ok || !more {
		return "", false
	}
	return schema.DecodeToken(token)
}

// SubmitSubject is where a client sends a command that may not touch JetStream.
func SubmitSubject(s schema.Subject) string {
	return submitPrefix + strings.TrimPrefix(s.String(), cmdPrefix)
}

// SubmitFor is the submit subject for any subject of the inbox; ok is false for
// one that the service does not listen to.
func SubmitFor(subject string) (submit string, ok bool) {
	rest, ok := strings.CutPrefix(subject, cmdPrefix)
	return submitPrefix + rest, ok && strings.Count(rest, ".") == 2
}

// Stopping are the command types that stop something, sorted.
var Stopping = []string{"invalidate", "missionState", "revokeGrant", "withdrawApproval"}

// SubmitQueue names the queue in which the service takes submitted commands of a
// type: its own for one that stops something, "" for all others. Commands of one
// client and one queue keep their order.
func SubmitQueue(commandType string) string {
	if slices.Contains(Stopping, commandType) {
		return commandType
	}
	return ""
}

// SubmitPattern is the subject of all submitted commands of one type.
func SubmitPattern(commandType string) string { return submitPrefix + "*.*." + commandType }

// CommandSubject is the subject of the inbox for a command that was sent to a
// submit subject.
func CommandSubject(submit string) (string, bool) {
	rest, ok := strings.CutPrefix(submit, submitPrefix)
	return cmdPrefix + rest, ok
}

// InboxStream is the name of a shard's inbox stream.
func InboxStream(shard int64) string { return fmt.Sprintf("AIWS_INBOX_%d", shard) }

// LogStream is the name of a shard's decision log.
func LogStream(shard int64) string { return fmt.Sprintf("AIWS_LOG_%d", shard) }
