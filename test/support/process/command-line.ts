/** Runs the command line in this process, and captures its standard output and error. */
import type { Test } from 'tap'
import { main } from '../../../src/cli/main.ts'
import type { Finished } from './process.ts'

/**
 * Runs the command line to its end. During the run, `cwd` is the working directory of this process. Other tests in the process must
 * therefore not change the working directory.
 */
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
