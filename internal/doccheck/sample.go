package doccheck

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// sampleMessages are three commands as a stream had them: one that opens a
// ledger, one without a command id, and one that is no JSON, under a header given
// twice. The sequence 3 was never decided: gaps are legal.
var sampleMessages = []events.Message{
	{
		Seq: 1, Time: 1767225600000123456, Subject: "aiws.cmd.c1.owner.openContract", IDs: []string{"open-1"},
		Body: []byte(`{"contract":{"actions":["buy"],"aiwsEdition":"0.4","budget":"1000","criteria":["delivered"],` +
			`"deadline":"1798761600000","features":[],"id":"c1","maxAttempts":"3","maxAuthorizationAgeMs":"60000",` +
			`"missionId":"m1","profile":"finite-v1","requiresApproval":false,"resources":["shop"]},"type":"openContract"}`),
	},
	{Seq: 2, Time: 1767225601000000000, Subject: "aiws.cmd.c1.agent.startRun", Body: []byte(`{"runId":"r1","type":"startRun"}`)},
	{Seq: 4, Time: 1767225602000000000, Subject: "aiws.cmd.c1.agent.settle", IDs: []string{"a", "b"}, Body: []byte("\xff")},
}

// sample is the three commands decided, in one block.
type sample struct {
	decisions []*events.Decision
	block     []byte
	blockHash [32]byte
	stateHash [32]byte
	changes   []state.Change
	rows      *state.MemoryRows
}

func newSample() *sample {
	x := &sample{rows: state.NewMemory()}
	s := state.New(x.rows, state.Cursor{}, 0)
	decider := reducer.New()
	builder := events.NewBlock(events.Header{
		RulesVersion: reducer.RulesVersion, Generation: "01KDVDW1G0000000000000000A", Writer: "01KDVDW1G0000000000000000B", Build: "example",
		Shard: 0, Shards: 1, Time: "1767225602003", PrevBlockHash: events.ZeroHash,
	})
	for i := range sampleMessages {
		d := decider.Step(s, &sampleMessages[i])
		builder.Add(&sampleMessages[i], d)
		x.decisions = append(x.decisions, d)
	}
	x.changes = s.Take(1)
	x.rows.Commit(x.changes)
	s.Committed()
	x.stateHash = s.Hash()
	x.block, x.blockHash = builder.Seal(x.stateHash)
	return x
}

// row is the change whose key begins with the kind.
func (x *sample) row(kind byte) state.Change {
	for _, change := range x.changes {
		if change.Key[0] == kind {
			return change
		}
	}
	panic(fmt.Sprintf("doccheck: the sample has no row of kind %c", kind))
}
