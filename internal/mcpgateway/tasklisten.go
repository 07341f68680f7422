package mcpgateway

import (
	"context"
	"slices"
	"time"

	"interlock/internal/rpc"
)

// maxTasksHeard is how many tasks one listener is told of.
const maxTasksHeard = 64

// taskNow is how a task stands, as tasks/get tells the client of a request; nil: there is no such task of its agent.
func (s *Session) taskNow(ctx context.Context, r *request, id string) []byte {
	return s.taskAs(ctx, r, "tasks/get", append(rpc.AppendString([]byte(`{"taskId":`), id), '}')).result
}

// tasksOf is which of these tasks there are.
func (s *Session) tasksOf(ctx context.Context, r *request, ids []string) []string {
	var known []string
	for _, id := range ids {
		if len(known) < maxTasksHeard && !slices.Contains(known, id) && s.taskNow(ctx, r, id) != nil {
			known = append(known, id)
		}
	}
	return known
}

// hearTasks tells a listener how its tasks stand, and again whenever that has changed, until they have ended. It looks as a
// client would that polls, and what such a poll sets off it sets off too.
func (s *Session) hearTasks(ctx context.Context, l *listener, ids []string) {
	last := map[string]string{}
	for len(ids) > 0 {
		ids = slices.DeleteFunc(ids, func(id string) bool {
			now := s.taskNow(ctx, l.request, id)
			if ctx.Err() != nil || now == nil { // it can't be read just now, perhaps
				return false
			}
			if string(now) != last[id] {
				last[id] = string(now)
				task := without(now, "resultType")
				s.tell(l.request.reply, "notifications/tasks", l.marked(task[1:len(task)-1]))
			}
			switch rpc.Unquoted(rpc.Member(now, "status")) {
			case taskCompleted, taskFailed, taskCancelled:
				return true
			}
			return false
		})
		select {
		case <-ctx.Done():
			return
		case <-time.After(taskAtOnce):
		}
	}
}
