package reducertest

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
)

// raw sends any bytes. The subject is made of contract, by and type, or is
// given; ids gives any header; below stands the body. {{N*X}} stands for X, N
// times, in the body and the arguments. base64 says how the body is written.
//
//	raw type=startRun by=agent
//	{"type": "startRun", "runId": "r", "runId": "s"}
//	----
//	rejected JSON_INVALID ..
func (w *World) raw(d *datadriven.TestData) (string, error) {
	subject, contract, by, kind := "", w.story.contract, "agent", "startRun"
	var ids *[]string
	body := d.Input
	for _, arg := range d.CmdArgs {
		value := ""
		if len(arg.Vals) > 0 {
			value = repeat(arg.Vals[0])
		}
		switch arg.Key {
		case "subject":
			subject = value
		case "contract":
			contract = value
		case "by":
			by = value
		case "type":
			kind = value
		case "id":
			ids = &[]string{value}
		case "ids":
			ids = &arg.Vals
		case "base64":
			decoded, err := base64.StdEncoding.DecodeString(body)
			if err != nil {
				return "", err
			}
			body = string(decoded)
		default:
			return "", fmt.Errorf("raw has no argument %q", arg.Key)
		}
	}
	if subject == "" {
		subject = "aiws.cmd." + contract + "." + by + "." + kind
	}
	decision, err := w.Step(w.story.message(subject, ids, []byte(repeat(body))))
	if err != nil {
		return "", err
	}
	return show(decision), nil
}

var repeated = regexp.MustCompile(`\{\{(\d+)\*(.*?)\}\}`)

func repeat(text string) string {
	return repeated.ReplaceAllStringFunc(text, func(found string) string {
		parts := repeated.FindStringSubmatch(found)
		n, _ := strconv.Atoi(parts[1])
		return strings.Repeat(parts[2], n)
	})
}
