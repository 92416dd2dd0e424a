// A load generator: sends the same POST request repeatedly on kept-alive TLS connections, and prints the results as one line of JSON.
//
// Without -rate, each connection sends a request as soon as it has the response to its previous request. With -rate, requests are due at
// fixed times. The latency of a request starts when the request was due, so it includes the time in which a stalled server has delayed the
// request.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

type result struct {
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	Error    string  `json:"error,omitempty"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50Ms"`
	P99      float64 `json:"p99Ms"`
	P999     float64 `json:"p999Ms"`
}

func main() {
	target := flag.String("url", "", "where to send: https://host:port/path")
	authority := flag.String("ca", "", "file with the authority to trust")
	body := flag.String("body", "", "file with the body")
	connections := flag.Int("connections", 16, "connections")
	seconds := flag.Float64("seconds", 4, "how long")
	rate := flag.Float64("rate", 0, "requests per second over all connections; 0: as fast as answers come")
	flag.Parse()
	res, err := run(*target, *authority, *body, *connections, time.Duration(*seconds*float64(time.Second)), *rate)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(res)
}

type worker struct {
	latencies []time.Duration
	failed    int
	err       error
}

func run(target, authority, bodyFile string, connections int, duration time.Duration, rate float64) (*result, error) {
	address, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	body, err := os.ReadFile(bodyFile)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in " + authority)
	}
	var request bytes.Buffer
	fmt.Fprintf(&request, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		address.RequestURI(), address.Host, len(body))
	request.Write(body)

	workers := make([]worker, connections)
	ready := make([]net.Conn, connections)
	for i := range ready {
		ready[i], err = tls.Dial("tcp", address.Host, &tls.Config{RootCAs: roots, ServerName: "localhost"})
		if err != nil {
			return nil, err
		}
		defer ready[i].Close()
	}
	begin := time.Now()
	end := begin.Add(duration)
	var wait sync.WaitGroup
	for i := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			// With -rate, the first requests of the connections are evenly distributed over the pause between two requests of one connection.
			var pause, first time.Duration
			if rate > 0 {
				pause = time.Duration(float64(connections) / rate * float64(time.Second))
				first = pause * time.Duration(i) / time.Duration(connections)
			}
			workers[i].send(ready[i], request.Bytes(), begin.Add(first), end, pause)
		}()
	}
	wait.Wait()
	return summary(workers, time.Since(begin)), nil
}

func (w *worker) send(connection net.Conn, request []byte, due, end time.Time, pause time.Duration) {
	reader := bufio.NewReaderSize(connection, 64*1024)
	for {
		if pause > 0 {
			time.Sleep(time.Until(due))
		} else {
			due = time.Now()
		}
		if !due.Before(end) {
			return
		}
		connection.SetDeadline(end.Add(30 * time.Second))
		if _, err := connection.Write(request); err != nil {
			w.err = err
			return
		}
		ok, err := readAnswer(reader)
		if err != nil {
			w.err = err
			return
		}
		if !ok {
			w.failed++
		}
		w.latencies = append(w.latencies, time.Since(due))
		due = due.Add(pause)
	}
}

// readAnswer reads one HTTP response, which has a Content-Length or is chunked, and returns true when its status is 200.
func readAnswer(reader *bufio.Reader) (bool, error) {
	line, err := reader.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	ok := bytes.Contains(line, []byte(" 200 "))
	length, chunked := -1, false
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return false, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil {
				return false, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		}
	}
	if !chunked {
		if length < 0 {
			return false, errors.New("an answer without a length")
		}
		_, err = reader.Discard(length)
		return ok, err
	}
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return false, err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return false, err
		}
		if _, err := io.CopyN(io.Discard, reader, size+2); err != nil {
			return false, err
		}
		if size == 0 {
			return ok, nil
		}
	}
}

func summary(workers []worker, took time.Duration) *result {
	var all []time.Duration
	res := &result{Seconds: took.Seconds()}
	for _, w := range workers {
		all = append(all, w.latencies...)
		res.Failed += w.failed
		if w.err != nil {
			res.Error = w.err.Error()
		}
	}
	slices.Sort(all)
	res.Requests = len(all)
	at := func(share float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return float64(all[min(len(all)-1, int(share*float64(len(all))))].Microseconds()) / 1000
	}
	res.P50, res.P99, res.P999 = at(0.5), at(0.99), at(0.999)
	return res
}
