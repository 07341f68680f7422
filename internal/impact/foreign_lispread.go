package impact

func (l *foreignLanguage) readLisp(text string, host foreignHost, inline bool) {}
func (l *foreignLanguage) readWords(text string, host foreignHost, inline bool, args []foreignValue) {
}
