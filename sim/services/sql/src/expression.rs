//! The evaluation of expressions.

use std::rc::Rc;

use picklock_clients::sql::{Clock, ErrorCode, Expr, Operator, Value};

use crate::ids::Row;
use crate::session::{Done, Session, Stop};
use crate::state::Instance;

/// The row that an expression is about.
pub struct RowContext {
    pub table: Option<usize>,
    row: Option<Row>,
    /// The row that was to be inserted.
    excluded: Option<Row>,
}

impl RowContext {
    pub fn none() -> Self {
        Self {
            table: None,
            row: None,
            excluded: None,
        }
    }

    pub fn of(table: usize, row: Option<&Row>) -> Self {
        Self {
            table: Some(table),
            row: row.map(Rc::clone),
            excluded: None,
        }
    }

    /// With the row that was to be inserted.
    pub fn instead_of(self, excluded: &Row) -> Self {
        Self {
            excluded: Some(Rc::clone(excluded)),
            ..self
        }
    }

    /// The values of the row.
    pub fn values(&self) -> Vec<Value> {
        self.row.as_ref().map_or_else(Vec::new, |row| row.to_vec())
    }
}

/// Two values joined by an operator that does not compare.
fn computed(left: &Value, operator: Operator, right: &Value) -> Done<Value> {
    use Value::{Int, Interval, Text, Timestamp};
    Ok(match (left, operator, right) {
        (Int(left), Operator::Plus, Int(right)) => Int(left.wrapping_add(*right)),
        (Int(left), Operator::Minus, Int(right)) => Int(left.wrapping_sub(*right)),
        (Int(_), Operator::Divide, Int(0)) => return Err(ErrorCode::DivisionByZero.into()),
        (Int(left), Operator::Divide, Int(right)) => Int(left.wrapping_div(*right)),
        (Timestamp(at), Operator::Plus, Interval(by)) => Timestamp(at.saturating_add(*by)),
        (Timestamp(at), Operator::Minus, Interval(by)) => Timestamp(at.saturating_sub(*by)),
        (Timestamp(at), Operator::Minus, Timestamp(from)) => Interval(at.saturating_sub(*from)),
        (Interval(one), Operator::Plus, Interval(other)) => Interval(one.saturating_add(*other)),
        (Text(left), Operator::Concat, Text(right)) => Text(format!("{left}{right}").into()),
        _ => Value::Null,
    })
}

/// Whether two values compare so; none if one of them is not known, or they are of two kinds.
fn compared(left: &Value, operator: Operator, right: &Value) -> Option<bool> {
    let order = match (left.as_int(), right.as_int()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ if *left == Value::Null || *right == Value::Null => return None,
        _ => left.cmp(right),
    };
    Some(match operator {
        Operator::Equal => order.is_eq(),
        Operator::NotEqual => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::Greater => order.is_gt(),
        Operator::GreaterOrEqual => order.is_ge(),
        Operator::Plus | Operator::Minus | Operator::Divide | Operator::Concat => return None,
    })
}

impl Instance {
    /// A truth value, as the server answers it.
    pub fn truth(&self, is_true: bool) -> Value {
        match self.profile.truth_is_number {
            true => Value::Int(is_true.into()),
            false => Value::Bool(is_true),
        }
    }

    pub fn evaluate(&mut self, s: &mut Session, context: &RowContext, expr: &Expr) -> Done<Value> {
        match expr {
            Expr::Value(value) => Ok(value.clone()),
            Expr::Column(name) => self.column(context, context.row.as_ref(), name),
            Expr::Excluded(name) => self.column(context, context.excluded.as_ref(), name),
            Expr::Count => Ok(Value::Null),
            Expr::Clock(Clock::Moving) => Ok(Value::Timestamp(self.wall)),
            Expr::Clock(Clock::Now) => {
                let transaction = s.transaction.as_ref();
                let began = transaction.filter(|_| !self.profile.now_is_of_statement);
                Ok(Value::Timestamp(
                    began.map_or(s.run.began, |transaction| transaction.began),
                ))
            }
            Expr::Binary(left, operator, right) => {
                let left = self.evaluate(s, context, left)?;
                let right = self.evaluate(s, context, right)?;
                if left == Value::Null || right == Value::Null {
                    return Ok(Value::Null);
                }
                match operator {
                    Operator::Plus | Operator::Minus | Operator::Divide | Operator::Concat => {
                        computed(&left, *operator, &right)
                    }
                    Operator::Equal
                    | Operator::NotEqual
                    | Operator::Less
                    | Operator::LessOrEqual
                    | Operator::Greater
                    | Operator::GreaterOrEqual => {
                        let is_true = compared(&left, *operator, &right);
                        Ok(is_true.map_or(Value::Null, |is_true| self.truth(is_true)))
                    }
                }
            }
            Expr::IsNull(expr) => {
                let is_null = self.evaluate(s, context, expr)? == Value::Null;
                Ok(self.truth(is_null))
            }
            Expr::Function(function) => {
                if let Some(known) = s.run.memo.get(s.run.memo_at) {
                    let known = known.clone();
                    s.run.memo_at += 1;
                    return Ok(known);
                }
                let value = self.call(s, context, function)?;
                s.run.memo.push(value.clone());
                s.run.memo_at += 1;
                Ok(value)
            }
        }
    }

    fn column(&self, context: &RowContext, row: Option<&Row>, name: &str) -> Done<Value> {
        let place = context
            .table
            .and_then(|table| self.heap.tables[table].place(name));
        let value = row.and_then(|row| row.get(place?));
        value.cloned().ok_or(Stop::Error(self.profile.no_column))
    }

    /// Whether all conditions are true. The first that is not is the last that is looked at.
    pub fn all_true(
        &mut self,
        s: &mut Session,
        context: &RowContext,
        conditions: &[Expr],
    ) -> Done<bool> {
        for condition in conditions {
            if !self.evaluate(s, context, condition)?.is_true() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is answered of a row.
    pub fn project(
        &mut self,
        s: &mut Session,
        context: &RowContext,
        items: &[Expr],
    ) -> Done<Vec<Value>> {
        let values = items.iter().map(|item| self.evaluate(s, context, item));
        values.collect()
    }
}
