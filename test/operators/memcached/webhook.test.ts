/** Tests of the names that the webhook of Memcacheds accepts. */
import t from 'tap'
import { validateMemcached } from '../../../src/operators/memcached/webhook.ts'
import { aMemcached } from '../../support/operators/memcached.ts'

const errorsOf = (name: string | undefined): readonly string[] =>
  validateMemcached(aMemcached({}, { name } as never)).map(({ path, message, reason }) => `${path}: ${reason}: ${message}`)

t.test('a name that is a label of 63 characters is valid, and so is one that the API server generates later', async (t) => {
  for (const name of ['a', '0', 'a-b', '1a', 'a'.repeat(63), undefined]) t.strictSame(errorsOf(name), [], String(name))
})

t.test('a name that cannot be a label is refused', async (t) => {
  for (const name of ['a'.repeat(64), 'a.b', 'A', '-a', 'a-', 'a_b', '', 'a\n'])
    t.match(errorsOf(name), [/^metadata\.name: FieldValueInvalid: .*at most 63 characters.*because it becomes a label of the Pods$/], name)
})
