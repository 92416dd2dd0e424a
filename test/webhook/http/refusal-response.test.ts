import t from 'tap'
import { MalformedConversionReview } from '../../../src/conversion/review-scan.ts'
import { BodyRefused } from '../../../src/webhook/body/body-refused.ts'
import { refuse } from '../../../src/webhook/http/refusal-response.ts'
import { MalformedReview } from '../../../src/webhook/review/admission-review.ts'
import { recordingLogger } from '../../support/recording-logger.ts'

t.test('each refusal has its status, message and log line; 429 has a Retry-After header', async (t) => {
  const cases: readonly (readonly [Error, number, string, string])[] = [
    [new BodyRefused(429, 'no memory'), 429, 'no memory', 'info'],
    [new BodyRefused(413, 'too large'), 413, 'too large', 'info'],
    [new BodyRefused(408, 'too slow'), 408, 'too slow', 'info'],
    [new MalformedReview('no review'), 400, 'no review', 'info'],
    [new MalformedConversionReview('no objects'), 400, 'no objects', 'info'],
    [Object.assign(new Error('bad url'), { statusCode: 499 }), 499, 'bad url', 'info'],
    [Object.assign(new Error('closing'), { statusCode: 503 }), 503, 'closing', 'error'],
    [Object.assign(new Error('no type'), { statusCode: 415 }), 415, 'The Content-Type must be application/json.', 'info'],
    [new Error('secret'), 500, 'Internal error.', 'error'],
  ]
  for (const [error, code, text, level] of cases) {
    const headers: Record<string, string> = {}
    const answered: unknown[] = []
    const reply = {
      header: (name: string, value: string) => ((headers[name] = value), reply),
      code: (status: number) => (answered.push(status), reply),
      type: (type: string) => (answered.push(type), reply),
      send: (body: string) => (answered.push(body), reply),
    }
    const { logger, entries } = recordingLogger()
    const statuses: number[] = []
    refuse(reply as never, error, { path: '/a', logger, onRefused: (status) => void statuses.push(status) })
    t.strictSame(answered, [code, 'text/plain; charset=utf-8', `${text}\n`])
    t.strictSame(headers, code === 429 ? { 'retry-after': '1' } : {})
    t.strictSame(statuses, [code])
    t.equal(entries.length, 1)
    const { level: logged, msg, path, code: loggedCode, err } = entries[0]!
    t.strictSame(
      { logged, msg, path },
      { logged: level, msg: level === 'info' ? `refused a request: ${text}` : 'a request could not be answered', path: '/a' },
    )
    if (level === 'info') t.strictSame([loggedCode, err], [code, undefined])
    else t.match(err, { message: error.message })
  }
})
