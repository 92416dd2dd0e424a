/** The command line inside this process, with captured standard output and error. */
import type { Test } from 'tap'
import { main } from '../../../src/cli/main.ts'
import type { Finished } from './process.ts'

/** Runs the command line to completion in the folder `cwd`. Tests of the same process must not change the folder meanwhile. */
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
