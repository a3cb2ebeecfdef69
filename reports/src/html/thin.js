// What is drawn alike, together. Of arrows that lie on each other one is drawn; in a view of many, those that rise
// within a pixel are lines of a column, and of others that begin and end near each other one stands for all.
function thinned(shown, at, endsOf) {
  const groups = new Map(), steep = new Map(), many = shown.length > 400;
  let left = shown, all = shown.length;
  // Every second column is enough to see where there is much.
  const wide = shown.length > 1500 ? 2 : 1;
  if (many) {
    left = [];
    for (const it of shown) {
      const [key, arrow] = it, x = Math.round(at(arrow.x1) / wide) * wide;
      if (Math.abs(at(arrow.x2) - at(arrow.x1)) > 1.2 || arrow.end !== END.arrives) { left.push(it); continue; }
      const { y1, y2 } = endsOf(arrow);
      if (!steep.has(key)) steep.set(key, new Map());
      const columns = steep.get(key), column = columns.get(x);
      if (column) [column[0], column[1]] = [Math.min(column[0], y1, y2), Math.max(column[1], y1, y2)];
      else columns.set(x, [Math.min(y1, y2), Math.max(y1, y2)]);
    }
  }
  for (let cell = many ? 4 : 1; ; cell *= 2) {
    const drawn = new Map();
    for (const it of left) {
      const [key, arrow] = it, apart = arrow.end === END.lost ? 1 : cell;
      const [x1, x2] = [at(arrow.x1), at(arrow.x2)].map((x) => Math.round(x / apart));
      const place = ((((x1 + 4096) * 16384 + x2 + 4096) * 64 + arrow.from) * 64 + arrow.to) * 40 + key;
      if (!drawn.has(place)) drawn.set(place, it);
    }
    if (many && drawn.size > 300 && cell < 64) continue;
    all = Math.max(drawn.size, many ? all : 0);
    for (const [key, arrow] of drawn.values()) {
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(arrow);
    }
    return { groups, steep, all };
  }
}
