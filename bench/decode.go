package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// measureDecode compares strict decoding with what is in the standard library,
// which checks next to nothing, and with a validator of the published schema.
func measureDecode(p plan) (*finding, error) {
	f, err := task{name: "decode", commands: p.commands / 8}.rounds(p.rounds)
	if err != nil {
		return nil, err
	}
	ours, std, validator := f.Values["schema"], f.Values["json"], f.Values["jsonschema"]
	return &finding{costs: []cost{f.cost("decode, all three")}, results: []result{
		atMost("decode-json", ours, std, "%.2fµs of processor time per command, encoding/json into a map, which checks nothing, %.2fµs", ours/1000, std/1000),
		atMost("decode-jsonschema", ours, validator, "%.2fµs, a JSON Schema library with the published schema %.2fµs", ours/1000, validator/1000),
	}}, nil
}

func decodeTask(t task) (map[string]float64, error) {
	list := newSource(mixedWork).take(t.commands)
	validate, err := validator()
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, side := range []struct {
		name   string
		decode func(body []byte) error
	}{
		{"schema", func(body []byte) error {
			if _, fault := schema.Decode(body); fault != nil {
				return fault
			}
			return nil
		}},
		{"json", func(body []byte) error { var v map[string]any; return json.Unmarshal(body, &v) }},
		{"jsonschema", validate},
	} {
		if values[side.name], err = timeDecode(list, side.decode); err != nil {
			return nil, fmt.Errorf("%s: %w", side.name, err)
		}
	}
	return values, nil
}

func timeDecode(list []events.Message, decode func(body []byte) error) (nanoseconds float64, err error) {
	began := processorTime()
	for i := range list {
		if err := decode(list[i].Body); err != nil {
			return 0, err
		}
	}
	return float64(processorTime()-began) / float64(len(list)), nil
}

// validator is a JSON Schema library over the published schema files.
func validator() (func(body []byte) error, error) {
	c := jsonschema.NewCompiler()
	for id, text := range map[string][]byte{wireSchema: schema.AIWS, hostSchema: schema.Host} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(id, doc); err != nil {
			return nil, err
		}
	}
	wire, err := c.Compile(wireSchema)
	if err != nil {
		return nil, err
	}
	host, err := c.Compile(hostSchema)
	if err != nil {
		return nil, err
	}
	return func(body []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			return err
		}
		if wire.Validate(v) == nil {
			return nil
		}
		return host.Validate(v)
	}, nil
}

const (
	wireSchema = "urn:aiws:wire:0.4"
	hostSchema = "urn:aiws-reducer:host:1"
)
