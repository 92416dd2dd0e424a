// A load generator: sends requests on kept-alive TLS connections, and prints the results as one line of JSON. By default, all requests are
// the same POST request. With -requests, each connection sends the requests of a file in turn (see requests.go).
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
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type result struct {
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	Events   int     `json:"events"`
	Error    string  `json:"error,omitempty"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50Ms"`
	P99      float64 `json:"p99Ms"`
	P999     float64 `json:"p999Ms"`
	// CPU seconds of the processes in -cpu-of, from the first request to the last response or watch event.
	CPUSeconds float64 `json:"cpuSeconds"`
}

type options struct {
	requests      []request
	authorization string
	connections   int
	duration      time.Duration
	rate          float64
	watch         string
	watchers      int
	processes     []string
}

func main() {
	target := flag.String("url", "", "where to send: https://host:port/path; with -requests, the path is ignored")
	authority := flag.String("ca", "", "file with the authority to trust")
	body := flag.String("body", "", "file with the body")
	file := flag.String("requests", "", "file with the requests as JSON, instead of -body")
	token := flag.String("token", "", "bearer token of the requests")
	connections := flag.Int("connections", 16, "connections")
	seconds := flag.Float64("seconds", 4, "how long")
	rate := flag.Float64("rate", 0, "requests per second over all connections; 0: as fast as answers come")
	watch := flag.String("watch", "", "path to watch while the requests are sent")
	watchers := flag.Int("watchers", 0, "connections that watch; each must receive an event for every request")
	processes := flag.String("cpu-of", "", "process ids, separated by commas, whose CPU time is measured")
	flag.Parse()
	res, err := func() (*result, error) {
		address, err := url.Parse(*target)
		if err != nil {
			return nil, err
		}
		requests, err := readRequests(*file, *body, address.RequestURI())
		if err != nil {
			return nil, err
		}
		roots, err := readRoots(*authority)
		if err != nil {
			return nil, err
		}
		opts := options{requests: requests, connections: *connections, rate: *rate, watch: *watch, watchers: *watchers}
		opts.duration = time.Duration(*seconds * float64(time.Second))
		if *token != "" {
			opts.authorization = "Authorization: Bearer " + *token + "\r\n"
		}
		if *processes != "" {
			opts.processes = strings.Split(*processes, ",")
		}
		return run(server{host: address.Host, roots: roots}, opts)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(res)
}

type server struct {
	host  string
	roots *x509.CertPool
}

func (s server) dial() (net.Conn, error) {
	return tls.Dial("tcp", s.host, &tls.Config{RootCAs: s.roots, ServerName: "localhost"})
}

func readRoots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in " + file)
	}
	return roots, nil
}

type worker struct {
	latencies []time.Duration
	failed    int
	err       error
}

func run(target server, opts options) (*result, error) {
	watched, err := startWatches(target, opts)
	if err != nil {
		return nil, err
	}
	workers := make([]worker, opts.connections)
	ready := make([]net.Conn, opts.connections)
	for i := range ready {
		ready[i], err = target.dial()
		if err != nil {
			return nil, err
		}
		defer ready[i].Close()
	}
	before, err := cpuSeconds(opts.processes)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	end := begin.Add(opts.duration)
	var wait sync.WaitGroup
	for i := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			// With -rate, the first requests of the connections are evenly distributed over the pause between two requests of one connection.
			var pause, first time.Duration
			if opts.rate > 0 {
				pause = time.Duration(float64(opts.connections) / opts.rate * float64(time.Second))
				first = pause * time.Duration(i) / time.Duration(opts.connections)
			}
			sequence := newSequence(opts.requests, i, "Host: "+target.host+"\r\n"+opts.authorization)
			workers[i].send(ready[i], sequence, begin.Add(first), end, pause)
		}()
	}
	wait.Wait()
	res := summary(workers)
	res.Events, err = watched.await(res.Requests)
	if err != nil {
		return nil, err
	}
	res.Seconds = time.Since(begin).Seconds()
	after, err := cpuSeconds(opts.processes)
	res.CPUSeconds = after - before
	return res, err
}

func (w *worker) send(connection net.Conn, requests *sequence, due, end time.Time, pause time.Duration) {
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
		if _, err := connection.Write(requests.next()); err != nil {
			w.err = err
			return
		}
		ok, err := readAnswer(reader, requests.answer())
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

// readAnswer reads one HTTP response, which has a Content-Length or is chunked, and copies its body to `body`. It returns true when the
// status is 200 or 201.
func readAnswer(reader *bufio.Reader, body io.Writer) (bool, error) {
	ok, length, chunked, err := readHead(reader)
	if err != nil {
		return false, err
	}
	if chunked {
		_, err = io.Copy(body, httputil.NewChunkedReader(reader))
		if err == nil {
			// The chunked reader does not read the empty trailer.
			_, err = reader.ReadSlice('\n')
		}
		return ok, err
	}
	if length < 0 {
		return false, errors.New("an answer without a length")
	}
	_, err = io.CopyN(body, reader, int64(length))
	return ok, err
}

// readHead reads the status line and the headers of a response.
func readHead(reader *bufio.Reader) (ok bool, length int, chunked bool, err error) {
	line, err := reader.ReadSlice('\n')
	if err != nil {
		return false, -1, false, err
	}
	ok = bytes.Contains(line, []byte(" 200 ")) || bytes.Contains(line, []byte(" 201 "))
	length = -1
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return false, length, chunked, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return ok, length, chunked, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil {
				return false, length, chunked, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		}
	}
}

func summary(workers []worker) *result {
	var all []time.Duration
	res := &result{}
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
