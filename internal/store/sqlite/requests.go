package sqlite

import (
	"context"
	"fmt"

	"interlock"
	"interlock/internal/ledger"
)

// Request returns an approval request, whatever has become of it.
func (s *Store) Request(ctx context.Context, id string) (r interlock.ApprovalRequest, found bool, err error) {
	err = s.read(ctx, "reading a request", func(c *conn) error {
		row, err := readRow(ctx, c, ledger.Request, id)
		if err != nil || row.Body == nil {
			return err
		}
		found = true
		r, err = decodeRequest(row.Row)
		return err
	})
	return r, found && err == nil, err
}

func decodeRequest(row ledger.Row) (interlock.ApprovalRequest, error) {
	r, err := ledger.DecodeRequest(row.Body)
	if err != nil {
		err = fmt.Errorf("decode a request: %w", err)
	}
	return r, err
}

// Requests returns up to limit approval requests, newest first, of one status or, with an empty status, of all.
func (s *Store) Requests(ctx context.Context, status interlock.RequestStatus, limit int) ([]interlock.ApprovalRequest, error) {
	var requests []interlock.ApprovalRequest
	err := s.apart(ctx, "list requests", func(c *conn) error {
		rows, err := readRows(ctx, c, ledger.Request, "SELECT r.key, r.version, r.body FROM marks m CROSS JOIN rows r ON "+
			"r.id = m.row WHERE m.kind = ? AND m.mark = ? ORDER BY m.at DESC, r.key LIMIT ?", ledger.Request,
			ledger.Is(status), limit)
		for _, row := range rows {
			r, err := decodeRequest(row)
			if err != nil {
				return err
			}
			requests = append(requests, r)
		}
		return err
	})
	return requests, err
}
