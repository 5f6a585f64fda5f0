package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/auth"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func newInit() *cobra.Command {
	var users []string
	c := &cobra.Command{
		Use:   "init DIR",
		Short: "write a server configuration with a user for each role",
		Long: "Init writes DIR/nats.conf and one file with the seed of an nkey for each user, readable by you alone, and prints\n" +
			"what each may do. Users send commands through aiws.submit, as themselves only; none may use JetStream.\n" +
			"There is one user for each role, named after it: " + strings.Join(auth.Roles(), ", ") + ". Nothing is overwritten.",
		Example: cli.Example(
			"reducer init secrets",
			"reducer init secrets --user buyer:agent:c1   # an agent who sees and touches the contract c1 only",
			"reducer serve --nats-config secrets/nats.conf",
		),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return initAuth(c, args[0], users) },
	}
	c.Flags().StringArrayVar(&users, "user", nil, "one more user, as `NAME:ROLE[:CONTRACT]`; may be repeated")
	return c
}

func initAuth(c *cobra.Command, dir string, more []string) error {
	users, err := initUsers(more)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	config := filepath.Join(dir, "nats.conf")
	if _, err := os.Lstat(config); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is there already, and nothing is overwritten", config)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	reducer, err := writeSeed(dir, "reducer")
	if err != nil {
		return err
	}
	for i := range users {
		if users[i].Public, err = writeSeed(dir, users[i].Name); err != nil {
			return err
		}
	}
	if err := writeNew(config, []byte(auth.Config(users, reducer))); err != nil {
		return err
	}
	out := c.OutOrStdout()
	var questions []string
	for _, q := range auth.Questions {
		questions = append(questions, string(q))
	}
	for _, u := range users {
		fmt.Fprintf(out, "%s (%s): sends %s; asks %s; inboxes %s.>\n",
			u.Name, u.Role, strings.Join(append(auth.Commands(u.Role), "nothing else"), ", "), strings.Join(questions, ", "), u.Inbox())
	}
	fmt.Fprintf(out, "\nreducer serve --nats-config %s\n", config)
	return nil
}

// initUsers are one for each role and those asked for; a name stands once.
func initUsers(more []string) ([]auth.User, error) {
	var users []auth.User
	seen := map[string]bool{"reducer": true}
	for _, role := range auth.Roles() {
		users = append(users, auth.User{Name: role, Role: role})
		seen[role] = true
	}
	for _, text := range more {
		u, err := auth.ParseUser(text)
		if err != nil {
			return nil, err
		}
		if seen[u.Name] {
			return nil, fmt.Errorf("user %q: there is one of this name already", u.Name)
		}
		seen[u.Name] = true
		users = append(users, u)
	}
	return users, nil
}

// writeSeed makes a key, keeps its seed in a file and returns its public half.
func writeSeed(dir, name string) (string, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", fmt.Errorf("make an nkey: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", fmt.Errorf("make an nkey: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return "", fmt.Errorf("make an nkey: %w", err)
	}
	return public, writeNew(filepath.Join(dir, schema.EncodeToken(name)+".nk"), append(seed, '\n'))
}

// writeNew writes a file that only its owner may read, and that was not there.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err // it names the file
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
