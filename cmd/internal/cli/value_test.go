package cli

import "testing"

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		text, shown string
		want        int64 // -1: refused
	}{
		{"0", "0", 0},
		{"1000", "1000", 1000},
		{"512MiB", "512MiB", 512 << 20},
		{"1 GiB", "1GiB", 1 << 30},
		{"2048MiB", "2GiB", 2 << 30},
		{"1.5GiB", "", -1},
		{"-1", "", -1},
		{"9000000000TiB", "", -1},
		{"10MB", "", -1},
		{"", "", -1},
	} {
		var b Bytes
		if err := b.Set(c.text); (err == nil) != (c.want >= 0) {
			t.Errorf("%q: %v", c.text, err)
		} else if err == nil && (int64(b) != c.want || b.String() != c.shown) {
			t.Errorf("%q is %d, shown as %s", c.text, b, b.String())
		}
	}
}

func TestMillis(t *testing.T) {
	for _, c := range []struct {
		text, shown string
		want        int64 // -1: refused
	}{
		{"0", "1970-01-01T00:00:00Z", 0},
		{"1767600060123", "2026-01-05T08:01:00.123Z", 1767600060123},
		{"2026-01-05T09:01:00+01:00", "2026-01-05T08:01:00Z", 1767600060000},
		{"2026-01-05", "", -1},
		{"-5", "", -1},
		{"yesterday", "", -1},
	} {
		m := Millis(-1)
		if err := m.Set(c.text); (err == nil) != (c.want >= 0) {
			t.Errorf("%q: %v", c.text, err)
		} else if err == nil && (int64(m) != c.want || m.String() != c.shown) {
			t.Errorf("%q is %d, shown as %s", c.text, m, m.String())
		}
	}
}
