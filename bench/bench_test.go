package main

import "testing"

// BenchmarkDecideEvolve is the measurement "decide-evolve" for profiles:
//
//	go test ./bench -run '^$' -bench . -cpuprofile cpu.prof
func BenchmarkDecideEvolve(b *testing.B) {
	list := messages(60_000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		pureOnce(list)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/command")
}
