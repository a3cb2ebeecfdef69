//! Reads the SQL of recordings into typed statements: as much of it as they use.

use std::rc::Rc;
use std::time::Duration;

use picklock_sql::Table;
use picklock_sql::sql::{
    AdvisoryKey, AdvisoryLock, Clock, Delete, Expr, Function, Insert, IsolationLevel, OnConflict,
    Operator, OrderBy, RowLocking, RowStrength, Select, Setting, SettingValue, Statement,
    TableLockMode, Update, Value, WaitPolicy,
};

/// What the recordings say in words that statements do not have, and what says the same.
const SAME: &[(&str, &str)] = &[
    ("timezone('utc',CURRENT_TIMESTAMP)", "now()"),
    ("transaction_timestamp()", "now()"),
    ("NOW(3)", "now()"),
    ("NOW()", "now()"),
    ("SYSDATE(3)", "clock_timestamp()"),
    ("SYSDATE()", "clock_timestamp()"),
    ("(random()*0)::int", "0"),
    ("INTERVAL 0.3 SECOND", "interval '300 ms'"),
    ("id IN (SELECT id FROM j ORDER BY id LIMIT 3) AND ", ""),
    (
        "WITH r AS MATERIALIZED (SELECT id FROM j ORDER BY id LIMIT 3) ",
        "",
    ),
    ("FROM r WHERE", "FROM j WHERE"),
    ("SELECT generate_series(1,5)", "VALUES(1),(2),(3),(4),(5)"),
    ("SELECT generate_series(1,4)", "VALUES(1),(2),(3),(4)"),
    (" AS already_over", ""),
    ("SET SESSION ", "SET "),
    ("ORDER BY 1", "ORDER BY name"),
];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(String),
    Sign(String),
}

fn tokens(text: &str) -> Vec<Token> {
    let (mut all, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = |is_part: &dyn Fn(char) -> bool| {
            rest.find(|letter: char| !is_part(letter))
                .unwrap_or(rest.len())
        };
        let end = if first == '\'' {
            let end = rest[1..].find('\'').expect("the text ends") + 2;
            all.push(Token::Text(rest[1..end - 1].to_owned()));
            end
        } else if first.is_ascii_digit() {
            let end = length(&|letter| letter.is_ascii_digit() || letter == '.');
            all.push(Token::Number(rest[..end].to_owned()));
            end
        } else if first.is_alphabetic() || first == '_' {
            let end = length(&|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
            all.push(Token::Word(rest[..end].to_owned()));
            end
        } else {
            let signs = ["<=", ">=", "<>", "||"];
            let end = if signs.iter().any(|sign| rest.starts_with(sign)) {
                2
            } else {
                1
            };
            all.push(Token::Sign(rest[..end].to_owned()));
            end
        };
        rest = rest[end..].trim_start();
    }
    all
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    tables: Vec<Table>,
}

fn fixed(word: &str) -> &'static str {
    let name = word.rsplit('.').next().unwrap_or_default();
    Box::leak(name.to_owned().into_boxed_str())
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// Takes these words and signs, if they come next.
    fn takes(&mut self, words: &str) -> bool {
        let all: Vec<&str> = words.split(' ').collect();
        let is_next = all.iter().enumerate().all(|(place, word)| {
            matches!(self.tokens.get(self.at + place),
                Some(Token::Word(found) | Token::Sign(found)) if found.eq_ignore_ascii_case(word))
        });
        if is_next {
            self.at += all.len();
        }
        is_next
    }

    fn word(&mut self) -> Option<&'static str> {
        let Some(Token::Word(word)) = self.tokens.get(self.at) else {
            return None;
        };
        self.at += 1;
        Some(fixed(word))
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.takes(",") {
            all.push(one(self)?);
        }
        Some(all)
    }

    fn text(&mut self) -> Option<Rc<str>> {
        let Some(Token::Text(text)) = self.tokens.get(self.at) else {
            return None;
        };
        self.at += 1;
        Some(text.as_str().into())
    }

    fn whole(&mut self) -> Option<i64> {
        let negative = self.takes("-");
        let Some(Token::Number(number)) = self.tokens.get(self.at) else {
            return None;
        };
        self.at += 1;
        let number: i64 = number.parse().ok()?;
        Some(if negative { -number } else { number })
    }

    fn primary(&mut self) -> Option<Expr> {
        if self.takes("(") {
            let inner = self.expression()?;
            return self.takes(")").then_some(inner);
        }
        if self.takes("NULL") {
            return Some(Expr::Value(Value::Null));
        }
        if self.takes("now ( )") {
            return Some(Expr::Clock(Clock::Now));
        }
        if self.takes("clock_timestamp ( )") {
            return Some(Expr::Clock(Clock::Moving));
        }
        if self.takes("count ( * )") {
            return Some(Expr::Count);
        }
        if self.takes("interval") {
            let Some(Token::Text(text)) = self.tokens.get(self.at) else {
                return None;
            };
            self.at += 1;
            let (number, unit) = text.split_once(' ')?;
            let number: i64 = number.parse().ok()?;
            let micros = if unit == "ms" { 1_000 } else { 1_000_000 };
            return Some(Expr::Value(Value::Interval(number * micros)));
        }
        match self.peek()?.clone() {
            Token::Number(_) => Some(self.whole()?.into()),
            Token::Text(text) => {
                self.at += 1;
                Some(Expr::Value(Value::Text(text.into())))
            }
            Token::Word(word) => {
                self.at += 1;
                match (self.takes("("), word.split_once('.')) {
                    (true, _) => self.function(&word.to_lowercase()),
                    (false, Some(("excluded", column))) => Some(Expr::Excluded(fixed(column))),
                    (false, _) => Some(Expr::Column(fixed(&word))),
                }
            }
            Token::Sign(_) => None,
        }
    }

    /// A function, of which the name and the parenthesis are read.
    fn function(&mut self, name: &str) -> Option<Expr> {
        if name == "repeat" {
            let letters = self.list(Self::expression)?;
            let (Expr::Value(Value::Text(letter)), Expr::Value(Value::Int(times))) =
                (&letters[0], &letters[1])
            else {
                return None;
            };
            let text = letter.repeat(usize::try_from(*times).ok()?);
            return self
                .takes(")")
                .then(|| Expr::Value(Value::Text(text.into())));
        }
        if name == "get_lock" {
            let lock = self.expression()?.into();
            let timeout = self.takes(",").then(|| self.seconds())?;
            return self
                .takes(")")
                .then(|| Function::GetLock(lock, timeout).into());
        }
        if name == "sleep" || name == "pg_sleep" {
            let millis = u64::try_from(self.seconds()?).ok()?;
            let function = Function::Sleep(Duration::from_millis(millis));
            return self.takes(")").then(|| function.into());
        }
        let mut arguments = match self.peek() {
            Some(Token::Sign(_)) => Vec::new(),
            _ => self.list(Self::expression)?,
        };
        let closes = self.takes(")");
        let second = (arguments.len() > 1).then(|| arguments.remove(1));
        let first = arguments.pop();
        let pid = match &first {
            Some(Expr::Value(Value::Int(pid))) => u32::try_from(*pid).unwrap_or_default(),
            _ => 0,
        };
        let function = match name {
            "pg_advisory_unlock_all" => Function::AdvisoryUnlockAll,
            "release_all_locks" => Function::ReleaseAllLocks,
            "release_lock" => Function::ReleaseLock(first?.into()),
            "is_free_lock" => Function::IsFreeLock(first?.into()),
            "is_used_lock" => Function::IsUsedLock(first?.into()),
            "pg_cancel_backend" => Function::CancelBackend(pid),
            "pg_terminate_backend" => Function::TerminateBackend(pid),
            _ if name.starts_with("pg_") && name.contains("advisory") => {
                let key = match (first?.into(), second) {
                    (first, Some(second)) => AdvisoryKey::Two(first, second.into()),
                    (first, None) => AdvisoryKey::One(first),
                };
                let shared = name.ends_with("_shared");
                if name.contains("unlock") {
                    Function::AdvisoryUnlock { shared, key }
                } else {
                    let which = AdvisoryLock {
                        tries: name.contains("_try_"),
                        xact: name.contains("_xact_"),
                        shared,
                    };
                    Function::AdvisoryLock(which, key)
                }
            }
            _ => return None,
        };
        closes.then(|| function.into())
    }

    /// Seconds, in milliseconds; none if there are none.
    fn seconds(&mut self) -> Option<i64> {
        let negative = self.takes("-");
        let millis = match self.peek()? {
            Token::Number(number) => (number.parse::<f64>().ok()? * 1_000.0) as i64,
            _ => {
                self.at += 1;
                return None;
            }
        };
        self.at += 1;
        Some(if negative { -millis } else { millis })
    }

    fn joined(
        &mut self,
        signs: &[(&str, Operator)],
        side: impl Fn(&mut Self) -> Option<Expr>,
    ) -> Option<Expr> {
        let mut left = side(self)?;
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.takes(sign)) {
            left = Expr::Binary(left.into(), *operator, side(self)?.into());
        }
        Some(left)
    }

    fn expression(&mut self) -> Option<Expr> {
        const COMPARE: &[(&str, Operator)] = &[
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<>", Operator::NotEqual),
            ("=", Operator::Equal),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        const SUM: &[(&str, Operator)] = &[
            ("+", Operator::Plus),
            ("-", Operator::Minus),
            ("||", Operator::Concat),
        ];
        let sum = |reader: &mut Self| {
            reader.joined(SUM, |reader| {
                reader.joined(&[("/", Operator::Divide)], Self::primary)
            })
        };
        let found = self.joined(COMPARE, sum)?;
        if self.takes("IS NOT NULL") {
            return Some(Expr::IsNull(found.into()).equals(0));
        }
        Some(found)
    }

    fn conditions(&mut self) -> Option<Vec<Expr>> {
        if !self.takes("WHERE") {
            return Some(Vec::new());
        }
        let mut all = vec![self.expression()?];
        while self.takes("AND") {
            all.push(self.expression()?);
        }
        Some(all)
    }

    fn assignments(&mut self) -> Option<Vec<(&'static str, Expr)>> {
        self.list(|reader| {
            let column = reader.word()?;
            reader.takes("=").then_some(())?;
            Some((column, reader.expression()?))
        })
    }

    fn returning(&mut self) -> Option<Vec<Expr>> {
        match self.takes("RETURNING") {
            true => self.list(Self::expression),
            false => Some(Vec::new()),
        }
    }

    fn select(&mut self) -> Option<Statement> {
        let mut select = Select {
            items: self.list(Self::expression)?,
            ..Select::default()
        };
        if self.takes("FROM") {
            select.from = Some(self.word()?);
        }
        select.filter = self.conditions()?;
        if self.takes("ORDER BY") {
            let column = self.word()?;
            let descending = self.takes("DESC");
            select.order_by = Some(OrderBy { column, descending });
        }
        if self.takes("LIMIT") {
            select.limit = Some(usize::try_from(self.whole()?).ok()?);
        }
        let strengths = [
            ("FOR UPDATE", RowStrength::Update),
            ("FOR NO KEY UPDATE", RowStrength::NoKeyUpdate),
            ("FOR SHARE", RowStrength::Share),
            ("LOCK IN SHARE MODE", RowStrength::Share),
            ("FOR KEY SHARE", RowStrength::KeyShare),
        ];
        let strength = strengths.into_iter().find(|(words, _)| self.takes(words));
        select.locking = strength.map(|(_, strength)| {
            let wait = match (self.takes("NOWAIT"), self.takes("SKIP LOCKED")) {
                (true, _) => WaitPolicy::NoWait,
                (_, true) => WaitPolicy::SkipLocked,
                _ => WaitPolicy::Block,
            };
            RowLocking { strength, wait }
        });
        Some(Statement::Select(select))
    }

    fn insert(&mut self) -> Option<Statement> {
        let ignores = self.takes("IGNORE");
        self.takes("INTO").then_some(())?;
        let table = self.word()?;
        let mut columns: Vec<&str> = match self.takes("(") {
            true => self.list(Self::word)?,
            false => Vec::new(),
        };
        if columns.is_empty() {
            let known = self.tables.iter().find(|known| known.name == table)?;
            columns = known.columns.iter().map(|(name, _)| *name).collect();
        } else {
            self.takes(")").then_some(())?;
        }
        self.takes("VALUES").then_some(())?;
        let rows = self.list(|reader| {
            reader.takes("(").then_some(())?;
            let row = reader.list(Self::expression)?;
            reader.takes(")").then_some(row)
        })?;
        let on_conflict = if self.takes("ON DUPLICATE KEY UPDATE") {
            OnConflict::DoUpdate {
                set: self.assignments()?,
                filter: Vec::new(),
            }
        } else if ignores || self.takes("ON CONFLICT DO NOTHING") {
            OnConflict::DoNothing
        } else if self.takes("ON CONFLICT") {
            let _key = self.takes("(").then(|| self.word())?;
            self.takes(") DO UPDATE SET").then_some(())?;
            OnConflict::DoUpdate {
                set: self.assignments()?,
                filter: self.conditions()?,
            }
        } else {
            OnConflict::Raise
        };
        Some(Statement::Insert(Insert {
            table,
            columns,
            rows,
            on_conflict,
            returning: self.returning()?,
        }))
    }

    fn set(&mut self) -> Option<Statement> {
        if self.takes("TRANSACTION ISOLATION LEVEL READ COMMITTED") {
            return Some(Statement::SetIsolation(IsolationLevel::ReadCommitted));
        }
        let local = self.takes("LOCAL");
        let name = self.word()?;
        self.takes("=").then_some(())?;
        let setting = Setting::ALL.iter().find(|setting| setting.name() == name)?;
        let value = match self.peek()? {
            Token::Text(text) => {
                let millis = text.strip_suffix("ms")?.parse().ok()?;
                SettingValue::Time(Duration::from_millis(millis))
            }
            Token::Number(number) if *setting == Setting::Autocommit => {
                SettingValue::On(number == "1")
            }
            Token::Word(word) => SettingValue::On(word == "on"),
            Token::Number(number) => SettingValue::Time(Duration::from_secs(number.parse().ok()?)),
            Token::Sign(_) => return None,
        };
        self.at += 1;
        let setting = *setting;
        Some(Statement::Set {
            setting,
            value,
            local,
        })
    }

    fn statement(&mut self) -> Option<Statement> {
        let levels = [
            (
                "ISOLATION LEVEL REPEATABLE READ",
                IsolationLevel::RepeatableRead,
            ),
            ("ISOLATION LEVEL SERIALIZABLE", IsolationLevel::Serializable),
        ];
        let modes = [
            ("IN ACCESS EXCLUSIVE MODE", TableLockMode::AccessExclusive),
            ("IN ROW EXCLUSIVE MODE", TableLockMode::RowExclusive),
            ("IN SHARE MODE", TableLockMode::Share),
        ];
        Some(match self.word()?.to_uppercase().as_str() {
            "BEGIN" => {
                let level = levels.into_iter().find(|(words, _)| self.takes(words));
                Statement::Begin(level.map(|(_, level)| level))
            }
            "COMMIT" if self.takes("PREPARED") => Statement::CommitPrepared(self.text()?),
            "ROLLBACK" if self.takes("PREPARED") => Statement::RollbackPrepared(self.text()?),
            "COMMIT" => Statement::Commit,
            "ROLLBACK" if self.takes("TO") => Statement::RollbackTo(self.word()?),
            "ROLLBACK" => Statement::Rollback,
            "SAVEPOINT" => Statement::Savepoint(self.word()?),
            "SELECT" => self.select()?,
            "INSERT" => self.insert()?,
            "UPDATE" => {
                let table = self.word()?;
                self.takes("SET").then_some(())?;
                Statement::Update(Update {
                    table,
                    set: self.assignments()?,
                    filter: self.conditions()?,
                    returning: self.returning()?,
                })
            }
            "DELETE" => {
                self.takes("FROM").then_some(())?;
                Statement::Delete(Delete {
                    table: self.word()?,
                    filter: self.conditions()?,
                    returning: self.returning()?,
                })
            }
            "LOCK" => {
                self.takes("TABLE").then_some(())?;
                let table = self.word()?;
                let mode = modes.into_iter().find(|(words, _)| self.takes(words))?;
                Statement::LockTable(table, mode.1)
            }
            "SET" => self.set()?,
            "SHOW" => {
                let name = self.word()?;
                Statement::Show(*Setting::ALL.iter().find(|setting| setting.name() == name)?)
            }
            "PREPARE" if self.takes("TRANSACTION") => Statement::PrepareTransaction(self.text()?),
            "RESET" => self.takes("ALL").then_some(Statement::ResetAll)?,
            "DISCARD" => self.takes("ALL").then_some(Statement::DiscardAll)?,
            "KILL" => Statement::Kill {
                query: self.takes("QUERY"),
                pid: u32::try_from(self.whole()?).ok()?,
            },
            _ => return None,
        })
    }
}

/// A statement; none if it is of another kind than the server knows.
pub fn statement(text: &str, tables: &[Table]) -> Option<Statement> {
    if text.contains("; ") {
        let all = text.split("; ").map(|one| statement(one, tables));
        return Some(Statement::Batch(all.collect::<Option<_>>()?));
    }
    let mut text = text.to_owned();
    for (words, same) in SAME {
        text = text.replace(words, same);
    }
    let mut reader = Reader {
        tokens: tokens(&text),
        at: 0,
        tables: tables.to_vec(),
    };
    let statement = reader.statement()?;
    reader.peek().is_none().then_some(statement)
}

/// A table; none if the text does not make one.
pub fn table(text: &str) -> Option<Table> {
    let (name, columns) = text.strip_prefix("CREATE TABLE ")?.split_once('(')?;
    let columns = columns.rsplit_once(')')?.0;
    let mut table = Table::of(fixed(name), &[]);
    table.has_key = columns.contains("PRIMARY KEY");
    for column in columns.split(", ").flat_map(|column| column.split(",l ")) {
        let name = fixed(column.split(' ').next()?);
        let default = match column.split_once("DEFAULT ") {
            Some((_, number)) => Value::Int(number.parse().ok()?),
            None => Value::Null,
        };
        if column.contains("REFERENCES") {
            table.references = Some((name, "l"));
        }
        table.columns.push((name, default));
    }
    Some(table)
}
