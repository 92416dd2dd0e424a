/**
 * Checks that the AdmissionResponses of the compared servers have the same effect. The comparison is meaningful only if the servers do the
 * same work.
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Agent, request } from 'undici'
import type { JsonValue } from '../../src/index.ts'
import { jsonPatch } from '../../src/devcluster/patch/json-patch.ts'
import type { RunningProgram } from './programs.ts'
import type { Payload } from '../payloads.ts'

interface Response {
  readonly allowed: boolean
  readonly patch?: string
  readonly status?: { readonly details?: { readonly causes?: readonly { readonly field?: string }[] }; readonly message?: string }
}

/**
 * Compares the responses of each server with those of the first server:
 *
 * - for a valid App: `allowed` and the patched App
 * - for an invalid App: `allowed` and the invalid fields
 *
 * @throws {Error} when the responses of two servers differ, or when a server does not respond with 200.
 */
export async function compareAnswers(
  programs: readonly RunningProgram[],
  valid: readonly Payload[],
  invalid: readonly Payload[],
  ca: string,
): Promise<void> {
  const agent = new Agent({ connect: { ca } })
  const ask = async (program: RunningProgram, path: 'mutate' | 'validate', file: string): Promise<Response> => {
    const { body, statusCode } = await request(program.url(path), {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: readFileSync(file),
    })
    const answer = (await body.json()) as { response: Response }
    if (statusCode !== 200) throw new Error(`${program.program.name} answers ${statusCode} to ${path}: ${JSON.stringify(answer)}`)
    return answer.response
  }
  try {
    for (const { file, object } of valid) {
      const completed = programs.map(async (program) => {
        const { allowed } = await ask(program, 'validate', file)
        const { patch } = await ask(program, 'mutate', file)
        const operations = patch === undefined ? [] : (JSON.parse(Buffer.from(patch, 'base64').toString()) as JsonValue)
        return { allowed, object: jsonPatch(object, operations) }
      })
      expectSame(programs, await Promise.all(completed), `about ${file}`)
    }
    for (const { file } of invalid) {
      const causes = programs.map(async (program) => {
        const { allowed, status } = await ask(program, 'validate', file)
        return { allowed, fields: (status?.details?.causes ?? []).map(({ field }) => field).sort() }
      })
      expectSame(programs, await Promise.all(causes), `about ${file}`)
    }
  } finally {
    await agent.close()
  }
}

function expectSame(programs: readonly RunningProgram[], answers: readonly unknown[], about: string): void {
  answers.forEach((answer, index) => {
    if (isDeepStrictEqual(answer, answers[0])) return
    const [one, other] = [answers[0], answer].map((value) => JSON.stringify(value).slice(0, 2000))
    throw new Error(`${programs[0]!.program.name} and ${programs[index]!.program.name} differ ${about}:\n${one}\n${other}`)
  })
}
