package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func newFingerprint() *cobra.Command {
	return &cobra.Command{
		Use:   "fingerprint FILE|-",
		Short: "print the fingerprint of an action, for an approval",
		Long: "Fingerprint reads one action (the member \"action\" of an admit) and prints what an approval of it must\n" +
			"carry: the sha256 of its canonical JSON. Layout and the order of members do not matter.",
		Example: cli.Example(
			`echo '{"capability":"purchase","resource":"shop","payload":{"item":"desk"},"preconditions":{}}' | ingest fingerprint -`,
		),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			fingerprint, err := readFingerprint(c, args[0])
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if cli.JSON(c) {
				return ui.JSON(c.OutOrStdout(), map[string]string{"fingerprint": fingerprint})
			}
			fmt.Fprintln(c.OutOrStdout(), fingerprint)
			return nil
		},
	}
}

func readFingerprint(c *cobra.Command, name string) (string, error) {
	file, err := cli.Open(c, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, schema.MaxBody+1))
	if err != nil {
		return "", err
	}
	if len(text) > schema.MaxBody {
		return "", errors.New("longer than any command")
	}
	// What a command could not carry has no fingerprint either.
	if _, err := schema.Canonical(text); err != nil {
		return "", err
	}
	var action schema.Action
	if err := schema.DecodeRecord(text, &action); err != nil {
		return "", err
	}
	return schema.Fingerprint(&action), nil
}
