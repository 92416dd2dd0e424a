import t from 'tap'
import { addErrors, isEmpty, joinErrors, maxListedErrors, noErrors, omission } from '../../src/api/error-list.ts'
import type { FieldError } from '../../src/api/field-error.ts'
import { forbidden } from '../../src/api/field-error.ts'

const errors = (count: number, detail = 'x'): FieldError[] => Array.from({ length: count }, (_, index) => forbidden(`f[${index}]`, detail))

t.test('errors are listed up to a count, and those beyond it are counted', (t) => {
  const few = addErrors(noErrors, errors(3))
  t.strictSame(few, { listed: errors(3), omitted: 0 })
  t.equal(omission(few), undefined)
  const more = addErrors(few, errors(maxListedErrors))
  t.equal(more.listed.length, maxListedErrors)
  t.strictSame(more.listed.slice(0, 4), [...errors(3), errors(1)[0]])
  t.equal(more.omitted, 3)
  t.strictSame(omission(more), {
    path: '<nil>',
    reason: 'FieldValueTooMany',
    message: 'Too many: at least 3 more errors are not listed; correct those that are',
  })
  t.match(omission(addErrors(noErrors, errors(maxListedErrors + 1)))?.message, 'at least 1 more error is not listed')
  t.end()
})

t.test('adding no errors changes nothing', (t) => {
  t.equal(addErrors(noErrors, []), noErrors)
  t.ok(isEmpty(noErrors))
  const some = addErrors(noErrors, errors(1))
  t.notOk(isEmpty(some))
  t.equal(joinErrors(noErrors, some), some)
  t.strictSame(joinErrors(some, noErrors), some)
  t.end()
})

t.test('joined lists add up their omitted errors', (t) => {
  const first = addErrors(noErrors, errors(maxListedErrors + 10))
  const second = addErrors(noErrors, errors(maxListedErrors + 5))
  t.equal(joinErrors(first, second).omitted, 10 + maxListedErrors + 5)
  t.equal(joinErrors(addErrors(noErrors, errors(1)), second).omitted, 5 + 1)
  t.end()
})

t.test('the messages of all errors have a limit, and so has each', (t) => {
  const long = addErrors(noErrors, errors(100, 'y'.repeat(20_000)))
  t.ok(long.listed.length >= 1 && long.listed.length < 10, `${long.listed.length} listed`)
  t.equal(long.listed.length + long.omitted, 100)
  const [huge] = addErrors(noErrors, [forbidden('p'.repeat(1_000_000), 'z'.repeat(1_000_000))]).listed
  t.ok(huge!.path.length + huge!.message.length < 70_000)
  t.match(huge, { reason: 'FieldValueForbidden', path: /…$/, message: /^Forbidden: z+…$/ })
  t.end()
})

t.test('a text of up to 32 Ki characters is kept, a longer one is cut there', (t) => {
  const most = 32 * 1024
  const of = (path: number, message: number): FieldError =>
    addErrors(noErrors, [{ path: 'p'.repeat(path), reason: 'FieldValueForbidden', message: 'm'.repeat(message) }]).listed[0]!
  t.strictSame(of(most, most), { path: 'p'.repeat(most), reason: 'FieldValueForbidden', message: 'm'.repeat(most) })
  t.strictSame(of(most + 1, 1), { path: `${'p'.repeat(most)}…`, reason: 'FieldValueForbidden', message: 'm' })
  t.strictSame(of(1, most + 1), { path: 'p', reason: 'FieldValueForbidden', message: `${'m'.repeat(most)}…` })
  t.end()
})

t.test('the texts of a list are 128 Ki characters long, and the last one may exceed that', (t) => {
  const error = (length: number): FieldError => ({ path: 'p', reason: 'FieldValueForbidden', message: 'm'.repeat(length - 1) })
  const quarter = error(32 * 1024)
  const three = addErrors(noErrors, [quarter, quarter, quarter])
  const almost = addErrors(three, [error(32 * 1024 - 1), error(10), error(10)])
  t.strictSame([almost.listed.length, almost.omitted], [5, 1])
  const full = addErrors(three, [quarter, error(10)])
  t.strictSame([full.listed.length, full.omitted], [4, 1])
  t.strictSame([addErrors(full, [error(1)]).listed.length, addErrors(full, [error(1)]).omitted], [4, 2])
  t.end()
})

t.test('250 errors are listed', (t) => {
  const { listed, omitted } = addErrors(noErrors, errors(250))
  t.strictSame([listed.length, omitted], [250, 0])
  t.strictSame(addErrors({ listed, omitted: 3 }, errors(2)), { listed, omitted: 5 })
  t.ok([noErrors, noErrors.listed].every(Object.isFrozen))
  t.strictSame(joinErrors({ listed: errors(1), omitted: 2 }, { listed: errors(2), omitted: 3 }), {
    listed: [...errors(1), ...errors(2)],
    omitted: 5,
  })
  t.end()
})
