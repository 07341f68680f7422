package strictjson

import "interlock"

// Judgment writes a value: what a judge said stands in the event, in the snapshot and in what is remembered of it.
func (w *Writer) Judgment(j *interlock.Judgment) {
	w.Open()
	w.optionalTrue("conditional", j.Conditional)
	w.optionalInt("confidence", int64(j.Percent))
	w.optionalInt("context", int64(j.Context))
	w.optionalInt("cost", j.Cost)
	w.OptionalString("currency", j.Currency)
	w.optionalInt("draw", int64(j.Draw))
	w.OptionalString("failure", string(j.Failure))
	w.OptionalString("ground_rules", string(j.GroundRules))
	w.Name("judge")
	w.String(j.Judge)
	w.optionalInt("layer", int64(j.Layer))
	w.optionalInt("micros", j.Micros)
	w.OptionalString("model", j.Model)
	w.OptionalString("prompt", string(j.Prompt))
	w.OptionalString("reason", j.Reason)
	w.optionalTrue("remembered", j.Remembered)
	w.OptionalString("response", string(j.Response))
	w.OptionalString("rule_id", j.Rule)
	w.optionalInt("share", int64(j.Share))
	w.OptionalString("subject", string(j.Subject))
	w.optionalInt("tokens_in", j.TokensIn)
	w.optionalInt("tokens_out", j.TokensOut)
	w.Name("verdict")
	w.Named(j.Verdict)
	w.Close()
}

// Judgments writes a member with a list of them, if it has any.
func (w *Writer) Judgments(name string, said []interlock.Judgment) {
	if len(said) == 0 {
		return
	}
	w.Name(name)
	List(w, said, (*Writer).Judgment)
}

func (w *Writer) optionalTrue(name string, value bool) {
	if value {
		w.Name(name)
		w.Bool(true)
	}
}
