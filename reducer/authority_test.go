package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// attenuation are the figures of a grant in the order in which they are compared.
var attenuation = []reducertest.Guard{
	{Code: "GRANT_NOT_ATTENUATED actions", Break: "arg actions=(buy, burn)"},
	{Code: "GRANT_NOT_ATTENUATED resources", Break: "arg resources=(shop, moon)"},
	{Code: "GRANT_NOT_ATTENUATED limit", Break: "arg limit=1001"},
}

func TestGrantOrder(t *testing.T) {
	root := []reducertest.Guard{
		{Code: "GRANT_EXISTS", Break: "pre grant g"},
		{Code: "PROFILE_MISMATCH", Break: "arg profile=other"},
		{Code: "GRANT_WINDOW_INVALID", Break: "arg not-before=200000"},
		{Code: "GRANT_NOT_ATTENUATED depth", Break: "arg depth=33"},
	}
	root = append(append(root, attenuation...), reducertest.Guard{Code: "GRANT_NOT_ATTENUATED expiresAt", Break: "arg expires=100001"})
	reducertest.Guards{Setup: "open-contract", Command: "grant g", List: root}.Order(t)
}

func TestGrantChildOrder(t *testing.T) {
	child := []reducertest.Guard{
		{Code: "GRANT_EXISTS", Break: "pre grant g by=owner"},
		{Code: "PROFILE_MISMATCH", Break: "arg profile=other"},
		{Code: "GRANT_WINDOW_INVALID", Break: "arg not-before=200000"},
		{Code: "GRANT_PARENT_NOT_FOUND", Break: "arg parent=none"},
		{Code: "GRANT_REVOKED", Break: "then revoke-grant top"},
		{Code: "GRANT_NOT_YET_VALID", Break: "edit grant top not-before=50000", Not: "GRANT_EXPIRED"},
		{Code: "GRANT_EXPIRED", Break: "edit grant top expires=1500; then at 1500"},
		{Code: "DELEGATION_FORBIDDEN", Break: "edit grant top delegate=false"},
		{Code: "GRANT_NOT_ATTENUATED depth", Break: "arg depth=2"},
	}
	child = append(append(child, attenuation...),
		reducertest.Guard{Code: "GRANT_NOT_ATTENUATED notBefore", Break: "arg not-before=499", Not: "GRANT_WINDOW_INVALID"},
		reducertest.Guard{Code: "GRANT_NOT_ATTENUATED expiresAt", Break: "arg expires=99001"},
	)
	reducertest.Guards{
		Setup:   "open-contract\ngrant top not-before=500 expires=99000",
		Command: "grant g parent=top by=agent depth=1 not-before=500 expires=99000",
		List:    child,
	}.Order(t)
}

func TestRevokeGrantOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\ngrant g",
		Command: "revoke-grant g",
		List: []reducertest.Guard{
			{Code: "GRANT_NOT_FOUND", Break: "arg grantId=none"},
			{Code: "GRANT_REVOKED", Break: "pre revoke-grant g"},
		},
	}.Order(t)
}

func TestApproveOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r",
		Command: "approve ok",
		List: []reducertest.Guard{
			{Code: "APPROVAL_EXISTS", Break: "pre approve ok"},
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "PRINCIPAL_MISMATCH", Break: "arg approver=owner"},
			{Code: "APPROVAL_EXPIRED", Break: "arg expires=1000"},
			{Code: "APPROVAL_USES_INVALID", Break: "arg uses=0"},
		},
	}.Order(t)
}

func TestWithdrawApprovalOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r\napprove ok",
		Command: "withdraw-approval ok",
		List: []reducertest.Guard{
			{Code: "APPROVAL_NOT_FOUND", Break: "arg approvalId=none"},
			{Code: "APPROVAL_WITHDRAWN", Break: "pre withdraw-approval ok"},
		},
	}.Order(t)
}
