package written

// CheckDigit checks a GTIN of 8, 12, 13 or 14 digits.
func CheckDigit(digits string) bool {
	switch len(digits) {
	case 8, 12, 13, 14:
	default:
		return false
	}
	sum := 0
	for i, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
		weight := 1
		if (len(digits)-i)%2 == 0 {
			weight = 3
		}
		sum += int(c-'0') * weight
	}
	return sum%10 == 0
}
