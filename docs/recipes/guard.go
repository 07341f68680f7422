//go:build ignore

// A Go program that asks Interlock before it runs a command: go run guard.go COMMAND. It uses nothing but the standard library;
// a program that may import this module decides in its own process instead, with interlock.New and interlock/embedded.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// allowed asks whether a command may run in the current directory. Whatever is no allow that names its event is a no.
func allowed(command string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"kind": "shell", "input": command, "dir": dir})
	if err != nil {
		return err
	}
	url := cmp.Or(os.Getenv("INTERLOCK_URL"), "http://127.0.0.1:7433")
	request, err := http.NewRequest(http.MethodPost, url+"/v1/decide", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+os.Getenv("INTERLOCK_TOKEN"))
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("Interlock can't be reached: %w", err)
	}
	defer response.Body.Close()
	var answer struct {
		Answer   string `json:"answer"`
		Event    string `json:"event_id"`
		Request  string `json:"request"`
		Findings []struct{ Rule, Reason string }
		Error    *struct{ Message string }
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, response.Body, 8<<20)).Decode(&answer); err != nil {
		return fmt.Errorf("Interlock's answer can't be read: %w", err)
	}
	switch {
	case answer.Error != nil:
		return fmt.Errorf("refused: %s", answer.Error.Message)
	case response.StatusCode == http.StatusOK && answer.Answer == "allow" && answer.Event != "":
		return nil
	case len(answer.Findings) > 0:
		return fmt.Errorf("refused: [%s] %s %s", answer.Findings[0].Rule, answer.Findings[0].Reason, answer.Request)
	}
	return fmt.Errorf("refused")
}

func main() {
	command := strings.Join(os.Args[1:], " ")
	if err := allowed(command); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	run := exec.Command("sh", "-c", command)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	if err := run.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
