/**
 * Lays out one round of turns so that targets of unlike weight alternate as evenly as they can
 * (smooth weighted round-robin): weights 5, 1, 1 give a a b a c a a. A round has at most 1,000 turns.
 */
export function weightedRoundRobin(weights: readonly number[]): number[] {
  const whole = weights.map((weight) => Math.max(0, Math.round(weight)))
  const sum = whole.reduce((total, weight) => total + weight, 0)
  if (sum === 0) return weights.map((_, index) => index)
  const divisor = whole.reduce(gcd, 0)
  const scale = Math.max(divisor, sum / 1000)
  const scaled = whole.map((weight) => (weight === 0 ? 0 : Math.max(1, Math.round(weight / scale))))
  const round = scaled.reduce((total, weight) => total + weight, 0)
  const current = scaled.map(() => 0)
  const order: number[] = []
  for (let turn = 0; turn < round; turn++) {
    let best = 0
    for (let i = 0; i < scaled.length; i++) {
      current[i] = current[i]! + scaled[i]!
      if (current[i]! > current[best]!) best = i
    }
    current[best] = current[best]! - round
    order.push(best)
  }
  return order
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}
