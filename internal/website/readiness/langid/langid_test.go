package langid_test

import (
	"fmt"
	"strings"
	"testing"

	"ace/internal/website/readiness/langid"
)

var texts = map[string]string{
	"en": "We repair bicycles in a small shop near the river. Most of the work is done while you wait, and the price " +
		"is agreed before we begin. If a part has to be ordered, we tell you how long that takes and what it costs.",
	"de": "Wir reparieren Fahrräder in einer kleinen Werkstatt am Fluss. Die meisten Arbeiten sind in einer Stunde " +
		"fertig, und der Preis steht fest, bevor wir anfangen. Wenn ein Teil bestellt werden muss, sagen wir, wie " +
		"lange das dauert.",
	"fr": "Nous réparons des vélos dans un petit atelier au bord de la rivière. La plupart des travaux sont faits " +
		"pendant que vous attendez et le prix est fixé avant de commencer. Si une pièce doit être commandée, nous " +
		"vous le disons.",
	"es": "Reparamos bicicletas en un pequeño taller junto al río. La mayoría de los trabajos se hacen mientras " +
		"usted espera y el precio se acuerda antes de empezar. Si hay que pedir una pieza, le decimos el plazo y el " +
		"precio.",
	"it": "Ripariamo biciclette in una piccola officina vicino al fiume. La maggior parte dei lavori si fa mentre " +
		"aspettate e il prezzo è concordato prima di iniziare. Se un pezzo deve essere ordinato, vi diciamo quanto " +
		"tempo ci vuole e che cosa costa.",
	"pt": "Reparamos bicicletas em uma pequena oficina perto do rio. A maior parte dos trabalhos é feita enquanto " +
		"você espera e o preço é combinado antes de começar. Se uma peça tem de ser encomendada, dizemos quanto " +
		"tempo demora e quanto custa.",
	"nl": "Wij repareren fietsen in een kleine werkplaats bij de rivier. De meeste klussen zijn klaar terwijl u " +
		"wacht en de prijs wordt afgesproken voor we beginnen. Als er een onderdeel besteld moet worden, zeggen we " +
		"hoe lang dat duurt en wat het kost.",
	"sv": "Vi reparerar cyklar i en liten verkstad vid floden. Det mesta görs medan du väntar och priset bestäms " +
		"innan vi börjar. Om en del måste beställas säger vi hur lång tid det tar och vad det kostar, så att du inte " +
		"blir överraskad av något.",
	"pl": "Naprawiamy rowery w małym warsztacie nad rzeką. Większość prac wykonujemy od ręki, a cena jest ustalona " +
		"przed rozpoczęciem. Jeśli trzeba zamówić część, mówimy, jak długo to potrwa i ile kosztuje, oraz czy można " +
		"ją zastąpić inną, która jest na miejscu.",
	"ru": "Мы чиним велосипеды в небольшой мастерской у реки. Большая часть работ делается, пока вы ждёте, и цена " +
		"известна до начала. Если нужно заказать деталь, мы говорим, сколько это займёт времени и сколько она стоит.",
	"ja": "川のそばの小さな工房で自転車を修理しています。ほとんどの作業はお待ちいただく間に終わり、料金は始める前に決めます。部品を注文する必要がある場合は、かかる時間と費用をお伝えします。",
	"zh": "我们在河边的小作坊里修理自行车。大部分工作可以当场完成，价格在开始之前就已商定。如果需要订购零件，我们会告诉您需要多长时间以及费用是多少。",
	"ko": "우리는 강가의 작은 공방에서 자전거를 수리합니다. 대부분의 작업은 기다리시는 동안 끝나며 가격은 시작하기 전에 정합니다.",
	"el": "Επισκευάζουμε ποδήλατα σε ένα μικρό εργαστήριο δίπλα στο ποτάμι. Η τιμή συμφωνείται πριν αρχίσουμε.",
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for want, text := range texts {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := langid.Detect(text); got != want {
				t.Errorf("Detect = %q, want %q", got, want)
			}
		})
	}
}

func TestUnsure(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"nothing":   "",
		"few words": "the price is agreed before we begin",
		"names":     strings.Repeat("Paul Anna Rex Kim Otto Max Ada Bob ", 10),
		"numbers":   strings.Repeat("12 345 ", 100),
		"cut":       strings.Repeat("\xff", 50_000),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := langid.Detect(text); got != "" {
				t.Errorf("Detect = %q, want unsure", got)
			}
		})
	}
}

func ExampleDetect() {
	fmt.Println(
		langid.Detect(
			"Die meisten Arbeiten sind in einer Stunde fertig, und der Preis steht fest, bevor wir anfangen. Wenn " +
				"ein Teil bestellt werden muss, sagen wir es."))
	// Output: de
}
