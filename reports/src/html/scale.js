// The axis of time: from times in microseconds to places, and back. A place is in units of the layout.
class Scale {
  constructor(data) {
    let time = 0, place = 0;
    this.times = data.t.map((step) => (time += step));
    this.shortened = data.u.map((step) => (place += step) / 10);
    const first = this.times[0] || 0;
    const span = Math.max(1, (this.times[this.times.length - 1] || 0) - first);
    this.length = Math.max(1, this.shortened[this.shortened.length - 1] || 0);
    this.linear = this.times.map((time) => ((time - first) / span) * this.length);
    this.places = this.shortened;
  }

  // Whether times have as much width as they last.
  toScale(on) {
    this.places = on ? this.linear : this.shortened;
  }

  // The index of the last knot that is not after a value, in an ascending list.
  static before(list, value) {
    let low = 0, high = list.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle] <= value) low = middle; else high = middle - 1;
    }
    return low;
  }

  static between(from, to, value) {
    const knot = Scale.before(from, value);
    const next = Math.min(knot + 1, from.length - 1);
    const long = from[next] - from[knot];
    const share = long > 0 ? Math.min(1, Math.max(0, (value - from[knot]) / long)) : 0;
    return to[knot] + (to[next] - to[knot]) * share;
  }

  place(time) {
    return this.times.length ? Scale.between(this.times, this.places, time) : 0;
  }

  time(place) {
    return this.times.length ? Scale.between(this.places, this.times, place) : 0;
  }
}

function seconds(micros) {
  return (Math.floor(micros / 1000) / 1000).toFixed(3) + " s";
}

// Times between which a wider view shows more digits.
function exact(micros) {
  return (micros / 1e6).toFixed(6) + " s";
}
