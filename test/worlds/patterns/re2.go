// Reads lines of JSON with a pattern and texts, and writes for each whether Go takes the pattern and what it finds in the texts.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
)

type asked struct {
	Pattern string   `json:"pattern"`
	Texts   []string `json:"texts"`
}

type answered struct {
	Pattern string     `json:"pattern"`
	Taken   bool       `json:"taken"`
	Found   [][]string `json:"found"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var one asked
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		expression, err := regexp.Compile(one.Pattern)
		answer := answered{Pattern: one.Pattern, Taken: err == nil, Found: [][]string{}}
		for _, text := range one.Texts {
			if err == nil {
				if found := expression.FindStringIndex(text); found != nil {
					answer.Found = append(answer.Found, []string{text, text[found[0]:found[1]]})
				} else {
					answer.Found = append(answer.Found, []string{text})
				}
			}
		}
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}
