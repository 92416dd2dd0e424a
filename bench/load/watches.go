package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http/httputil"
	"sync/atomic"
	"time"
)

// watches are the connections of -watchers, with the number of MODIFIED events that they have received together.
type watches struct {
	connections []net.Conn
	events      atomic.Int64
	failed      chan error
}

// startWatches opens the watches, and returns when the server has begun to answer all of them.
func startWatches(target server, opts options) (*watches, error) {
	w := &watches{failed: make(chan error, opts.watchers)}
	for range opts.watchers {
		connection, err := target.dial()
		if err != nil {
			return nil, err
		}
		w.connections = append(w.connections, connection)
		fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\n%sUser-Agent: load\r\nAccept: application/json\r\n\r\n", opts.watch, target.host, opts.authorization)
		reader := bufio.NewReaderSize(connection, 64*1024)
		if ok, _, _, err := readHead(reader); err != nil || !ok {
			return nil, errors.Join(errors.New("a watch was refused"), err)
		}
		go w.read(reader)
	}
	return w, nil
}

func (w *watches) read(reader *bufio.Reader) {
	lines := bufio.NewReaderSize(httputil.NewChunkedReader(reader), 1024*1024)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			w.failed <- err
			return
		}
		if bytes.HasPrefix(line, []byte(`{"type":"MODIFIED"`)) {
			w.events.Add(1)
		}
	}
}

// await waits until each watch has received `requests` events, and returns the number of all events.
func (w *watches) await(requests int) (int, error) {
	expected := requests * len(w.connections)
	deadline := time.Now().Add(60 * time.Second)
	for int(w.events.Load()) < expected {
		select {
		case err := <-w.failed:
			return 0, fmt.Errorf("a watch has ended: %w", err)
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("the watches received %d of %d events", w.events.Load(), expected)
		}
	}
	for _, connection := range w.connections {
		connection.Close()
	}
	return expected, nil
}
