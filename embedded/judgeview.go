package embedded

import (
	"interlock/internal/admission/core"
	"interlock/internal/judge"
)

// models are which models the judges of the settings are.
func (j *judging) models() (list []core.JudgeModel) {
	for _, m := range j.settings.Judge.Judges {
		list = append(list, core.JudgeModel{Judge: m.Name, Model: m.Model})
	}
	return list
}

// Judges says how the judges do in this process, in the order of the settings. The others that decide in this home know of their own.
func (b *Backend) Judges() []judge.Status {
	list := make([]judge.Status, 0, len(b.judging.held))
	for _, one := range b.judging.held {
		list = append(list, one.client.Load().Status())
	}
	return list
}
