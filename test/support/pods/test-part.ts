/** `testPart`: runs a part of the drill `pods` as a test. */
import type { Test } from 'tap'
import { seed } from '../seed.ts'
import type { PartOptions } from './run-part.ts'
import { runPart } from './run-part.ts'

/** Time limit in milliseconds. On a busy machine, a part takes more than a minute. */
const limitMs = 240_000

/** Runs the part, and adds a test of its result. If this machine cannot run the part, the test is skipped with the reason. */
export async function testPart(t: Test, name: string, options: Omit<PartOptions, 'seed' | 'onProgress'>): Promise<void> {
  t.setTimeout(limitMs)
  const { skipped, failures, ...counts } = await runPart({ ...options, seed })
  t.test(name, skipped === undefined ? {} : { skip: skipped }, (t) => {
    t.comment(`SEED=${seed}: ${JSON.stringify(counts)}`)
    t.strictSame(failures, [])
    t.end()
  })
}
