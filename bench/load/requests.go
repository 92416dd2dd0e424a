package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// A request of the file in -requests. In `path` and `body`, {connection} is replaced by the index of the connection, {count} by the number of
// times that the connection has sent all requests, and {revision} by the resourceVersion in the last answer with one.
type request struct {
	Method      string `json:"method"`
	Path        string `json:"path"`
	ContentType string `json:"contentType"`
	Body        string `json:"body"`
	// True for a request that each connection sends only once, at the beginning. Such requests are the first ones of the file.
	Once bool `json:"once"`
}

// readRequests returns the requests of a file, or a POST request with the given body.
func readRequests(file, body, path string) ([]request, error) {
	if file == "" {
		content, err := os.ReadFile(body)
		return []request{{Method: "POST", Path: path, ContentType: "application/json", Body: string(content)}}, err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var requests []request
	return requests, json.Unmarshal(content, &requests)
}

// sequence renders the requests of one connection.
type sequence struct {
	requests   []request
	headers    string
	connection string
	// The number of requests that are sent only once.
	once int
	sent int
	// The requests as bytes, if they have no placeholders.
	constant [][]byte
	// The body of the last response, if a request needs its resourceVersion.
	body     *bytes.Buffer
	revision string
}

func newSequence(requests []request, connection int, headers string) *sequence {
	s := &sequence{requests: requests, headers: headers, connection: strconv.Itoa(connection), constant: make([][]byte, len(requests))}
	for i, one := range requests {
		if one.Once {
			s.once++
		}
		if text := one.Path + one.Body; strings.Contains(text, "{revision}") {
			s.body = &bytes.Buffer{}
		} else if !strings.Contains(text, "{connection}") && !strings.Contains(text, "{count}") {
			s.constant[i] = s.render(one, strings.NewReplacer())
		}
	}
	return s
}

// next returns the bytes of the next request.
func (s *sequence) next() []byte {
	if s.body != nil && s.body.Len() > 0 {
		if _, after, found := bytes.Cut(s.body.Bytes(), []byte(`"resourceVersion":"`)); found {
			revision, _, _ := bytes.Cut(after, []byte(`"`))
			s.revision = string(revision)
		}
	}
	index, count := s.sent, 0
	if s.sent >= s.once {
		repeated := len(s.requests) - s.once
		index, count = s.once+(s.sent-s.once)%repeated, (s.sent-s.once)/repeated
	}
	s.sent++
	if s.constant[index] != nil {
		return s.constant[index]
	}
	values := strings.NewReplacer("{connection}", s.connection, "{count}", strconv.Itoa(count), "{revision}", s.revision)
	return s.render(s.requests[index], values)
}

// answer returns where the body of the next response is written.
func (s *sequence) answer() io.Writer {
	if s.body == nil {
		return io.Discard
	}
	s.body.Reset()
	return s.body
}

func (s *sequence) render(one request, values *strings.Replacer) []byte {
	body := values.Replace(one.Body)
	var bytes bytes.Buffer
	fmt.Fprintf(&bytes, "%s %s HTTP/1.1\r\n%sUser-Agent: load\r\nAccept: application/json\r\n", one.Method, values.Replace(one.Path), s.headers)
	if body != "" {
		fmt.Fprintf(&bytes, "Content-Type: %s\r\nContent-Length: %d\r\n", one.ContentType, len(body))
	}
	bytes.WriteString("\r\n")
	bytes.WriteString(body)
	return bytes.Bytes()
}
