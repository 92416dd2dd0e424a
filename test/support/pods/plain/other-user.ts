/** Starts programs as a user without privileges. */
import { spawnSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import { join } from 'node:path'

/** A uid that owns nothing on this machine. */
const uid = 54321
const words = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--']

/** Makes the other user the owner of the folder. Returns a command prefix. A command after this prefix runs as this user. */
export function asOtherUser(folder: string): readonly string[] {
  chownSync(folder, uid, uid)
  return words
}

/** Returns the problem that prevents the start of programs as another user. Returns false if there is no problem. */
export function otherUserProblem(): string | false {
  if (process.getuid?.() !== 0) return 'the tests run as a user without privileges already'
  const probe = [process.execPath, '-e', `require('node:fs').accessSync(${JSON.stringify(join(import.meta.dirname, 'cases.ts'))})`]
  const [program = '', ...args] = [...words, ...probe]
  const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: undefined } })
  if (error !== undefined) return `another user needs the program setpriv: ${error.message}`
  return status === 0
    ? false
    : `another user cannot read the sources: ${
        stderr
          .trim()
          .split('\n')
          .find((line) => line.includes('Error')) ?? stderr
      }`
}
