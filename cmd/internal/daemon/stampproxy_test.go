package daemon

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// stampProxy stands before a NATS server whose clock is off: it changes the time
// of each command that the inbox delivers, which is the time that counts.
type stampProxy struct {
	url string
	by  atomic.Int64 // nanoseconds
}

func startStampProxy(t *testing.T, server string) *stampProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &stampProxy{url: "nats://" + listener.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.carry(client, server) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // ends the accepting
		all.Wait()
	})
	return p
}

// carry carries one connection until either side ends it.
func (p *stampProxy) carry(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return // the client sees its connection end
	}
	defer server.Close()
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, client) // either end of it is the end
		_ = server.Close()
	})
	_ = p.down(client, bufio.NewReaderSize(server, 1<<20))
	_ = client.Close()
	up.Wait()
}

// down carries what the server says: lines, some of them followed by a message.
func (p *stampProxy) down(client io.Writer, server *bufio.Reader) error {
	for {
		line, err := server.ReadBytes('\n')
		if err != nil {
			return err
		}
		if _, err := client.Write(p.stamped(line)); err != nil {
			return err
		}
		if !bytes.HasPrefix(line, []byte("MSG ")) && !bytes.HasPrefix(line, []byte("HMSG ")) {
			continue
		}
		fields := bytes.Fields(line)
		size, err := strconv.Atoi(string(fields[len(fields)-1]))
		if err != nil {
			return err
		}
		if _, err := io.CopyN(client, server, int64(size)+2); err != nil {
			return err
		}
	}
}

// stamped changes the time in the line of a delivery from the inbox:
// $JS.ACK.<stream>.<consumer>.<deliveries>.<seq>.<delivered>.<time>.<pending>.
func (p *stampProxy) stamped(line []byte) []byte {
	const delivery, timeToken = "$JS.ACK.AIWS_INBOX_0.", 7
	start := bytes.Index(line, []byte(delivery))
	if start < 0 {
		return line
	}
	reply, rest, _ := bytes.Cut(line[start:], []byte(" "))
	tokens := bytes.Split(reply, []byte("."))
	stamp, err := strconv.ParseInt(string(tokens[timeToken]), 10, 64)
	if err != nil {
		return line
	}
	tokens[timeToken] = strconv.AppendInt(nil, stamp+p.by.Load(), 10)
	changed := append([]byte(nil), line[:start]...)
	changed = append(changed, bytes.Join(tokens, []byte("."))...)
	return append(append(changed, ' '), rest...)
}
