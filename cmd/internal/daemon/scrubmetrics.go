package daemon

import "github.com/prometheus/client_golang/prometheus"

// passedMetrics are when each part was last found in order, by its name.
var passedMetrics = map[string]*prometheus.Desc{
	partLog:     prometheus.NewDesc("aiws_log_passed_timestamp_seconds", "When the whole log was last read through and found in order; 0 is not yet.", nil, nil),
	partArchive: prometheus.NewDesc("aiws_archive_passed_timestamp_seconds", "When the whole archive was last read through and found to be the log's; 0 is not yet.", nil, nil),
	partStore:   prometheus.NewDesc("aiws_store_passed_timestamp_seconds", "When all rows of the store were last read and had the log's state hash; 0 is not yet.", nil, nil),
	partMirror:  prometheus.NewDesc("aiws_mirror_passed_timestamp_seconds", "When all rows of the KV mirror were last found to be those of the store; 0 is not yet.", nil, nil),
}

var mendedMetric = prometheus.NewDesc("aiws_mended_total", "Damage found in something derived, which was then made again, by part.", []string{"part"}, nil)

// Describe implements prometheus.Collector.
func (s *scrubber) Describe(out chan<- *prometheus.Desc) {
	out <- mendedMetric
	for _, p := range s.parts {
		out <- passedMetrics[p.name]
	}
}

// Collect implements prometheus.Collector.
func (s *scrubber) Collect(out chan<- prometheus.Metric) {
	for _, p := range s.parts {
		at, mended := p.lastPassed()
		seconds := 0.0
		if !at.IsZero() {
			seconds = float64(at.UnixMilli()) / 1000
		}
		out <- prometheus.MustNewConstMetric(passedMetrics[p.name], prometheus.GaugeValue, seconds)
		if p.name != partLog { // nothing mends that
			out <- prometheus.MustNewConstMetric(mendedMetric, prometheus.CounterValue, float64(mended), p.name)
		}
	}
}
