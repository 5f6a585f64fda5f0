package daemon

import (
	"errors"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// metrics counts what the loop does. The rest is read when it is asked for.
type metrics struct {
	commands *prometheus.CounterVec
	replayed prometheus.Counter
	size     prometheus.Histogram
	bytes    prometheus.Histogram
	seconds  *prometheus.HistogramVec
	fenced   prometheus.Gauge
	damaged  prometheus.Gauge
}

func newMetrics() *metrics {
	return &metrics{
		commands: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aiws_commands_total", Help: "Commands decided, by outcome and, where refused, code.",
		}, []string{"outcome", "code"}),
		replayed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "aiws_blocks_replayed_total", Help: "Blocks folded from the log without being decided.",
		}),
		size: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aiws_block_commands", Help: "Commands of a block.", Buckets: prometheus.ExponentialBuckets(1, 4, 6),
		}),
		bytes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "aiws_block_bytes", Help: "Bytes of a block.", Buckets: prometheus.ExponentialBuckets(1<<10, 4, 7),
		}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "aiws_block_seconds", Help: "Time that a block took: to decide, to append (with the fsync), to fold.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"step"}),
		fenced: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "aiws_fenced", Help: "1 when another reducer writes the log; this one is about to end with exit code 5.",
		}),
		damaged: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "aiws_integrity_fault", Help: "1 when the log was found damaged, or something ahead of it; the reducer is about to end with exit code 3.",
		}),
	}
}

// ended notes why the loop ended; the process follows it.
func (m *metrics) ended(err error) {
	if errors.Is(err, loop.ErrFenced) {
		m.fenced.Set(1)
	}
	if errors.Is(err, loop.ErrIntegrity) {
		m.damaged.Set(1)
	}
}

// folded counts a block.
func (m *metrics) folded(f *loop.Folded) {
	if f.Replayed {
		m.replayed.Inc()
		return
	}
	for _, d := range f.Decisions {
		m.commands.WithLabelValues(string(d.Outcome), string(d.Code)).Inc()
	}
	m.size.Observe(float64(len(f.Decisions)))
	m.bytes.Observe(float64(f.Bytes))
	m.seconds.WithLabelValues("decide").Observe(f.Decide.Seconds())
	m.seconds.WithLabelValues("append").Observe(f.Append.Seconds())
	m.seconds.WithLabelValues("fold").Observe(f.Fold.Seconds())
}

// registry is all metrics of a daemon.
func (m *metrics) registry(d *daemon) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(m.commands, m.replayed, m.size, m.bytes, m.seconds, m.fenced, m.damaged, &reading{d}, d.scrub,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// reading is a collector of what is known when it is asked.
type reading struct{ daemon *daemon }

// maxLedgers bounds the ledgers whose money is shown.
const maxLedgers = 1000

var (
	readyMetric    = prometheus.NewDesc("aiws_ready", "1 while commands are decided and answered.", nil, nil)
	phaseMetric    = prometheus.NewDesc("aiws_phase", "1 for what the loop is doing.", []string{"phase"}, nil)
	termsMetric    = prometheus.NewDesc("aiws_terms_total", "Terms begun by this process.", nil, nil)
	logMetric      = prometheus.NewDesc("aiws_log_sequence", "Last block of the log that is folded into the store.", nil, nil)
	commandMetric  = prometheus.NewDesc("aiws_command_sequence", "Last command that is folded into the store.", nil, nil)
	storeMetric    = prometheus.NewDesc("aiws_store_lag_blocks", "Blocks that the store is behind the end that the log had when the term began.", nil, nil)
	mirrorMetric   = prometheus.NewDesc("aiws_mirror_lag_blocks", "Blocks that the KV mirror is behind the store.", nil, nil)
	archiveMetric  = prometheus.NewDesc("aiws_archive_lag_blocks", "Blocks that the archive is behind the store.", nil, nil)
	jumpedMetric   = prometheus.NewDesc("aiws_clock_jumped_seconds", "How far the clock has jumped forward since the start, in all; a jump back counts less than 0.", nil, nil)
	missingMetric  = prometheus.NewDesc("aiws_archive_missing_blocks", "Damaged blocks of the archive that are being written again.", nil, nil)
	reservedMetric = prometheus.NewDesc("aiws_exposure_reserved", "What unsettled attempts reserve, rounded, of the first thousand ledgers.",
		[]string{"contract"}, nil)
	unknownMetric = prometheus.NewDesc("aiws_exposure_unknown", "What UNKNOWN attempts reserve, rounded, of the first thousand ledgers.",
		[]string{"contract"}, nil)
)

// Describe implements prometheus.Collector.
func (c *reading) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		readyMetric, phaseMetric, termsMetric, logMetric, commandMetric, jumpedMetric, storeMetric,
		mirrorMetric, archiveMetric, missingMetric, reservedMetric, unknownMetric,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *reading) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	info := c.daemon.status.Info()
	ready := 0.0
	if c.daemon.health.ready() {
		ready = 1
	}
	gauge(readyMetric, ready)
	gauge(phaseMetric, 1, string(info.Phase))
	out <- prometheus.MustNewConstMetric(termsMetric, prometheus.CounterValue, float64(info.Terms))
	gauge(logMetric, float64(info.LogSeq))
	gauge(commandMetric, float64(info.CommandSeq))
	gauge(jumpedMetric, c.daemon.health.clock.sum())
	gauge(storeMetric, lag(info.LogEnd, info.LogSeq))
	gauge(mirrorMetric, lag(info.LogSeq, c.daemon.mirror.Info().Block))
	if c.daemon.archive != nil {
		archive := c.daemon.archive.Status()
		gauge(archiveMetric, float64(archive.Lag))
		gauge(missingMetric, float64(archive.Missing))
	}
	if err := c.exposure(gauge); err != nil {
		c.daemon.o.Log.Debug("metrics: the store cannot be read now", "error", err)
	}
}

func lag(end, done uint64) float64 {
	if done >= end {
		return 0
	}
	return float64(end - done)
}

// exposure shows money. A metric is a float: for deciding there are the
// projections.
func (c *reading) exposure(gauge func(d *prometheus.Desc, value float64, labels ...string)) error {
	return c.daemon.view(func(r *state.Reader) error {
		contracts, err := r.Contracts()
		if err != nil {
			return err
		}
		for _, contract := range contracts[:min(len(contracts), maxLedgers)] {
			e := r.State().Exposure(contract)
			label := strings.ToValidUTF8(contract, "?")
			gauge(reservedMetric, float(e.Reserved), label)
			gauge(unknownMetric, float(e.Unknown), label)
		}
		return r.State().Err()
	})
}

func float(d schema.Decimal) float64 {
	value, _ := strconv.ParseFloat(d.String(), 64) // beyond the range it is +Inf, as it should be
	return value
}
