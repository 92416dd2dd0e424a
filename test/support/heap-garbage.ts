/**
 * A program that replaces the objects of a list again and again. It prints the largest size of its old generation in MB. The live objects
 * in the old generation have a size of about 70 MB. The first argument is `limited` or `unlimited`.
 */
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { limitHeapSize } from '../../src/runtime/heap-size.ts'

const liveCount = 300_000
const turns = 4_000
const perTurn = 500

if (process.argv[2] === 'limited') limitHeapSize()
const live: object[] = []
let largest = 0
for (let turn = 0; turn < turns; turn += 1) {
  for (let index = 0; index < perTurn; index += 1) live[(turn * perTurn + index) % liveCount] = { a: [turn, index], b: { c: turn } }
  if (turn % 5 === 0) await setImmediate()
  const used = getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')!.space_used_size
  // The list is full after 600 iterations. Afterwards, V8 needs several collections to adjust the size of the heap. The measurement
  // therefore starts after 1,500 iterations.
  if (turn > 1_500) largest = Math.max(largest, used / 1024 / 1024)
}
process.stdout.write(String(largest))
