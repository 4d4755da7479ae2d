package toolindex

import (
	"slices"
	"strings"
	"unicode"
)

// languages are the columns of foreignWords.
const languages = 7

// foreignWords returns English words of tasks with how German, Spanish, French,
// Portuguese, Japanese, Chinese and Korean say them. Words of European languages
// are given without their endings and accents.
func foreignWords() [][1 + languages]string {
	return [][1 + languages]string{
		{
			"create",
			"erstell anleg leg erzeug",
			"crea crear haz",
			"cree creer",
			"crie criar",
			"作成 作って 作る",
			"创建 新建 建立",
			"만들 생성",
		},
		{
			"add",
			"fuge hinzu kommentier",
			"anad agreg comenta",
			"ajout",
			"adicion acrescent comente",
			"追加",
			"添加 增加 加入",
			"추가 달아",
		},
		{"new", "neu", "nuev", "nouve", "nov", "新しい 新規", "新", "새로운 새"},
		{
			"delete",
			"losch entfern",
			"elimina borra suprim",
			"supprim efface",
			"exclu apag delet remov",
			"削除 消して",
			"删除 移除",
			"삭제 지워",
		},
		{"cancel", "kundig abbrech storni", "cancel anul", "annul", "cancel", "キャンセル 取り消", "取消", "취소"},
		{
			"update",
			"ander aktualisier bearbeit",
			"actualiz cambi edit modific",
			"modifi change mets",
			"atualiz edit alter mud",
			"更新 変更 編集",
			"更新 修改 编辑",
			"수정 변경 업데이트 편집",
		},
		{"rename", "benenn", "renombra", "renomm", "renomei", "名前を変更", "重命名", "이름을 바꿔"},
		{"move", "verschieb", "mueve mover", "deplac", "mova mover", "移動", "移动", "옮겨 이동"},
		{
			"list",
			"list aufzahl zeig welch wer",
			"list enumer muestr cuales",
			"list enumer montr affich quel",
			"list enumer mostr quais",
			"一覧 表示 リスト",
			"列出 显示 列表",
			"목록 보여",
		},
		{
			"get",
			"hol lies",
			"obten lee consult",
			"obten recuper lis consult",
			"obt leia consult",
			"取得 見せて 読んで",
			"获取 查看 读取",
			"가져 확인 읽어",
		},
		{
			"find",
			"such find",
			"busc encuentr",
			"cherch trouv recherch",
			"procur busc encontr",
			"検索 探して 見つけ",
			"搜索 查找 寻找",
			"찾아 검색",
		},
		{"send", "send schick verschick", "envi mand", "envoi", "envi mand", "送って 送信 送る", "发送 发", "보내 전송"},
		{"write", "schreib verfass", "escrib redact", "ecri redig", "escrev redij", "書いて 書く", "写", "써 작성"},
		{"reply", "antwort beantwort", "responde contest", "repond", "respond", "返信 回答", "回复 答复", "답장 회신"},
		{"forward", "weiterleit", "reenvi", "transfer", "encaminh", "転送", "转发", "전달"},
		{"share", "teil freigeb", "compart", "partag", "compartilh", "共有", "共享 分享", "공유"},
		{"upload", "hochlad hoch", "sube subir carga", "televers", "carreg", "アップロード", "上传", "업로드 올려"},
		{"download", "herunterlad", "descarg", "telecharg", "baix", "ダウンロード", "下载", "다운로드 내려"},
		{"merge", "zusammen", "fusion", "fusion", "mescl", "マージ 統合", "合并", "병합"},
		{"close", "schliess", "cierr", "ferm", "fech", "閉じ", "关闭", "닫아"},
		{"complete", "erledig abschliess", "complet termin", "termin achev", "conclu", "完了", "完成", "완료"},
		{"assign", "zuweis", "asigna", "assign attribu", "atribu", "割り当て", "分配 指派", "할당 배정"},
		{"invite", "einlad", "invit", "invit", "convid", "招待", "邀请", "초대"},
		{"refund", "erstatt ruckerstatt", "reembols", "rembours", "reembols estorn", "返金", "退款", "환불"},
		{"schedule", "plan", "program agend", "planifi", "agend", "スケジュール", "安排", "예약"},
		{"archive", "archivier", "archiv", "archiv", "arquiv", "アーカイブ", "归档", "보관"},
		{"publish", "veroffentlich", "public", "publi", "publi", "公開", "发布", "게시"},
		{"mark", "markier", "marc", "marqu", "marqu", "マーク", "标记", "표시"},
		{"upcoming", "kommend nachst", "proxim", "prochain", "proxim", "今後 次の", "接下来 即将", "예정 다가오는"},
		{"email", "email mail", "correo", "courriel mail", "email", "メール", "邮件 邮箱", "이메일 메일"},
		{"message", "nachricht", "mensaje", "message", "mensag", "メッセージ", "消息 信息", "메시지"},
		{"channel", "kanal", "canal", "canal", "canal", "チャンネル", "频道", "채널"},
		{
			"issue",
			"ticket fehler vorgang",
			"incidenc ticket",
			"ticket probleme",
			"ticket incident",
			"課題 チケット",
			"问题 工单",
			"이슈 티켓",
		},
		{"pull request", "pull", "solicitud", "tirage", "pull", "プルリクエスト", "拉取请求", "풀 리퀘스트"},
		{"comment", "kommentar kommentier", "comentari comenta", "comment", "comentari coment", "コメント", "评论", "댓글"},
		{"task", "aufgab", "tarea", "tache", "taref", "タスク", "任务", "할 일 작업"},
		{"meeting", "besprechung sitzung", "reunion", "reunion", "reunia reunio", "会議 ミーティング", "会议", "회의 미팅"},
		{"event", "termin ereignis", "evento", "evenement", "evento", "予定 イベント", "日程 事件 活动", "일정 이벤트"},
		{"calendar", "kalender", "calendario", "calendrier", "calendario", "カレンダー", "日历", "캘린더 달력"},
		{"file", "datei", "archivo fichero", "fichier", "arquivo ficheiro", "ファイル", "文件", "파일"},
		{"folder", "ordner", "carpeta", "dossier", "pasta", "フォルダ", "文件夹", "폴더"},
		{"document", "dokument", "documento", "document", "documento", "文書 ドキュメント", "文档", "문서"},
		{"page", "seite", "pagina", "page", "pagina", "ページ", "页面", "페이지"},
		{"table", "tabelle", "tabla", "table", "tabela", "テーブル 表", "表格", "테이블 표"},
		{"row", "zeile", "fila", "ligne", "linha", "行", "行", "행"},
		{"record", "datensatz", "registro", "enregistrement", "registro", "レコード", "记录", "레코드 기록"},
		{"contact", "kontakt", "contacto", "contact", "contato contacto", "連絡先 コンタクト", "联系人", "연락처"},
		{"customer", "kund", "client", "client", "client", "顧客 お客様", "客户 顾客", "고객"},
		{"company", "firma unternehmen", "empresa", "entreprise societe", "empresa", "会社 企業", "公司", "회사"},
		{"deal", "deal geschaft", "negocio", "transaction affaire", "negocio", "取引 商談", "交易", "거래"},
		{"invoice", "rechnung", "factura", "facture", "fatura", "請求書", "发票 账单", "청구서 송장"},
		{"payment", "zahlung", "pago", "paiement", "pagamento", "支払い 決済", "付款 支付", "결제 지불"},
		{"balance", "guthaben kontostand", "saldo", "solde", "saldo", "残高", "余额", "잔액"},
		{"order", "bestellung", "pedido", "commande", "pedido encomenda", "注文", "订单", "주문"},
		{"product", "produkt artikel", "product", "produit", "produto", "商品 製品", "产品 商品", "상품 제품"},
		{"subscription", "abonnement abo", "suscripcion", "abonnement", "assinatura", "サブスクリプション 購読", "订阅", "구독"},
		{"user", "benutzer nutzer", "usuario", "utilisateur", "usuario utilizador", "ユーザー", "用户", "사용자"},
		{"member", "mitglied", "miembro", "membre", "membro", "メンバー", "成员", "멤버 회원"},
		{"server", "server", "servidor", "serveur", "servidor", "サーバー", "服务器", "서버"},
		{"form", "formular", "formulario", "formulaire", "formulario", "フォーム", "表单", "양식 설문"},
		{"response", "antworten", "respuesta", "repons", "resposta", "回答", "答案", "응답"},
		{"card", "karte", "tarjeta", "carte", "cartao cartoes", "カード", "卡片", "카드"},
		{"board", "board", "tablero", "tableau", "quadro", "ボード", "看板", "보드"},
		{"project", "projekt", "proyecto", "projet", "projeto", "プロジェクト", "项目", "프로젝트"},
		{"repository", "repositor", "repositorio", "depot", "repositorio", "リポジトリ", "仓库", "저장소"},
		{"label", "etikett schlagwort", "etiqueta", "etiquette", "etiqueta", "ラベル", "标签", "라벨"},
		{"note", "notiz", "nota", "note", "nota", "メモ ノート", "笔记 备注", "메모 노트"},
		{"campaign", "kampagne", "campana", "campagne", "campanha", "キャンペーン", "活动", "캠페인"},
		{"video", "video", "video", "video", "video", "動画 ビデオ", "视频", "동영상 비디오"},
		{"photo", "foto bild", "foto imagen", "photo image", "foto imagem", "写真 画像", "照片 图片", "사진 이미지"},
		{"tomorrow", "morgen", "manana", "demain", "amanha", "明日", "明天", "내일"},
		{"today", "heut", "hoy", "aujourdhui", "hoje", "今日", "今天", "오늘"},
		{"colleague", "kolleg", "coleg", "colleg", "coleg", "同僚", "同事", "동료"},
		{"day", "tag", "dia", "jour", "dia", "日", "日", "날"},
	}
}

// functionWords returns small words of the European languages, which say what
// language a task is in. Those that are also English words are left out.
func functionWords() [languages][]string {
	return [languages][]string{
		strings.Fields(
			"der die das den dem des ein eine einen einem einer eines und oder mit von zu zum zur im fur auf aus bei " +
				"uber nach ich mir mein meine meinen unser unsere unserem unseres ist sind bitte habe alle",
		),
		strings.Fields(
			"el los las un una unos unas del al con para por en de mi mis tu nuestro nuestra y es son que cual quiero",
		),
		strings.Fields(
			"le les un une des du de dans avec pour par sur au aux mon ma mes notre nos et est sont que qui je veux",
		),
		strings.Fields(
			"os um uma uns umas do da dos das no na nos nas pelo pela com para por em meu minha meus minhas nosso " +
				"nossa e sao que qual quero",
		),
	}
}

// maxEnding is how many letters a word of a European language may have after what
// foreignWords gives of it.
const maxEnding = 4

// foreign translates words of tasks into English.
type foreign struct {
	words     [languages][]translation // the longest first
	functions [languages]map[string]bool
}

// translation is how a language says an English word, normalised like a task.
type translation struct {
	said, means string
}

func newForeign() *foreign {
	f := &foreign{}
	for _, row := range foreignWords() {
		for language, said := range row[1:] {
			for one := range strings.FieldsSeq(said) {
				f.words[language] = append(f.words[language], translation{squash(one), row[0]})
			}
		}
	}
	for language := range f.words {
		slices.SortStableFunc(f.words[language], func(a, b translation) int { return len(b.said) - len(a.said) })
		f.functions[language] = map[string]bool{}
	}
	for language, list := range functionWords() {
		for _, w := range list {
			f.functions[language][w] = true
		}
	}
	return f
}

// The languages without spaces or Latin letters, by their columns.
const (
	japanese = 4 + iota
	chinese
	korean
)

// scriptOf returns the language whose script a letter is of: chinese for Han,
// which Japanese uses too, and -1 for any other.
func scriptOf(r rune) int {
	switch {
	case r < 0x1100:
		return -1
	case unicode.Is(unicode.Hangul, r):
		return korean
	case unicode.In(r, unicode.Hiragana, unicode.Katakana) || r == 'ー':
		return japanese
	case unicode.Is(unicode.Han, r):
		return chinese
	}
	return -1
}

// asian reports whether a letter is of a script that is written without Latin
// letters: a border to these is one between words.
func asian(r rune) bool { return scriptOf(r) >= 0 }

// language returns the column of the language of a task, or -1 for English or one
// that is not known. isName reports whether a word is the name of an app.
func (f *foreign) language(task []word, isName func(string) bool) int {
	var scores [languages]int
	english := 0
	for i := range task {
		written := task[i].written
		if script := scriptIn(written); script >= 0 {
			scores[script] += 4
		}
		if stopped(written) {
			english++
		}
		for language := range japanese {
			if f.functions[language][written] {
				scores[language] += 2
			} else if !isName(written) && f.means(language, written) != "" {
				scores[language]++
			}
		}
	}
	if scores[japanese] > 0 { // it has Han letters too
		scores[japanese] += scores[chinese]
	}
	best := 0
	for language, score := range scores {
		if score > scores[best] {
			best = language
		}
	}
	if best < japanese && !slices.ContainsFunc(task, func(w word) bool { return f.functions[best][w.written] }) ||
		scores[best] <= 2*english {
		return -1
	}
	return best
}

// scriptIn returns the language of the script that a word is written in, or -1.
func scriptIn(written string) int {
	found := -1
	for _, r := range written {
		switch script := scriptOf(r); script {
		case japanese, korean:
			return script
		case chinese:
			found = chinese
		}
	}
	return found
}

// means returns the English of a word of a European language, or "".
func (f *foreign) means(language int, written string) string {
	for _, t := range f.words[language] {
		if rest, cut := strings.CutPrefix(written, t.said); cut && len(rest) <= maxEnding {
			return t.means
		}
	}
	return ""
}

// translate returns the words of a task in English. Names of apps stay, and words
// that are not known are left as they are.
func (f *foreign) translate(task []word, isName func(string) bool) []word {
	language := f.language(task, isName)
	if language < 0 {
		return task
	}
	var made []word
	add := func(english string) { made = append(made, words(english)...) }
	for _, w := range task {
		switch {
		case strings.ContainsFunc(w.written, asian):
			f.cut(language, w.written, add)
		case f.functions[language][w.written] && !isName(w.written):
			add("in") // what follows may be the name of an app
		case isName(w.written) || language >= japanese:
			made = append(made, w)
		default:
			if english := f.means(language, w.written); english != "" {
				add(english)
			} else {
				made = append(made, w)
			}
		}
	}
	return made
}

// cut finds known words in a text without spaces, the longest at each place.
func (f *foreign) cut(language int, text string, add func(english string)) {
	for text != "" {
		length := 0
		for _, t := range f.words[language] {
			if strings.HasPrefix(text, t.said) {
				add(t.means)
				length = len(t.said)
				break
			}
		}
		if length == 0 {
			for _, r := range text {
				length = len(string(r))
				break
			}
		}
		text = text[length:]
	}
}
