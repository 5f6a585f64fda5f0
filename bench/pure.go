package main

import (
	"encoding/json"
	"fmt"
	"syscall"
	"time"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

const targetDecide = 8 * time.Microsecond

// messages returns n commands of 64 workers on one ledger as they come in.
func messages(n int) []events.Message {
	list := make([]events.Message, 0, n)
	now := time.Now()
	add := func(c workload.Command) {
		list = append(list, events.Message{
			Seq: uint64(len(list) + 1), Time: now.UnixNano(), Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body,
		})
	}
	for _, c := range workload.Open(ledger(0)) {
		add(c)
	}
	workers := make([]*workload.Worker, 64)
	for i := range workers {
		workers[i] = workload.NewWorker(ledger(0), i)
	}
	for i := 0; len(list) < n; i++ {
		add(workers[i%len(workers)].Next())
	}
	return list
}

// measurePure is decide and evolve alone, strict decoding, hashing and the
// rows' encoding included, in blocks of 256.
func measurePure(p plan) ([]result, error) {
	list := messages(p.commands)
	var times []float64
	for range p.rounds {
		quiet()
		times = append(times, float64(pureOnce(list).Nanoseconds())/float64(len(list)))
	}
	each := time.Duration(median(times))
	return []result{{
		name: "decide-evolve", target: 1, ratio: float64(targetDecide) / float64(each),
		what: fmt.Sprintf("%s a command, at most %s", each, targetDecide),
	}}, nil
}

// measureDecode compares strict decoding with the standard library's, which
// checks next to nothing.
func measureDecode(p plan) ([]result, error) {
	list := messages(20_000)
	var ours, std []float64
	for range p.rounds {
		quiet()
		began := time.Now()
		for i := range list {
			if _, fault := schema.Decode(list[i].Body); fault != nil {
				return nil, fault
			}
		}
		ours = append(ours, float64(time.Since(began).Nanoseconds())/float64(len(list)))
		began = time.Now()
		for i := range list {
			var v map[string]any
			if err := json.Unmarshal(list[i].Body, &v); err != nil {
				return nil, err
			}
		}
		std = append(std, float64(time.Since(began).Nanoseconds())/float64(len(list)))
	}
	return []result{{
		name: "decode", target: 1, ratio: median(std) / median(ours),
		what: fmt.Sprintf("%s a command, encoding/json %s", time.Duration(median(ours)), time.Duration(median(std))),
	}}, nil
}

// pureOnce decides and folds messages and returns the processor time of it.
func pureOnce(list []events.Message) time.Duration {
	s, r := state.New(state.NewMemory(), state.Cursor{}, 20*len(list)), reducer.New()
	began := processorTime()
	for i := range list {
		r.Step(s, &list[i])
		if i%256 == 255 {
			s.Take(uint64(i))
			s.Committed()
		}
	}
	return processorTime() - began
}

// processorTime is what this process has used of all processors, the garbage
// collector's share included: other processes do not disturb it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other failure than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
