/** A command line that runs to its end in this process, where it writes with the streams of the process. */
import type { Test } from 'tap'
import { main } from '../../src/cli/main.ts'
import type { Finished } from './process.ts'

/** Runs it in the folder `cwd`, which no other test of the same process may leave meanwhile. */
export async function ended(t: Test, args: readonly string[], cwd = process.cwd()): Promise<Finished> {
  const streams = [process.stdout, process.stderr].map((stream) => t.capture(stream, 'write', () => true))
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const code = await main(args)
    const [stdout = '', stderr = ''] = streams.map((stream) => stream.args().map(([text]) => String(text)).join('')) // prettier-ignore
    return { code, stdout, stderr }
  } finally {
    process.chdir(before)
    for (const stream of streams) stream.restore()
  }
}
