import { setImmediate } from 'node:timers/promises'
import { Ajv } from 'ajv'
import t from 'tap'
import type { Test } from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { compileBuiltinTypes, compileSchemas } from '../../src/webhook/compile-schemas.ts'

const versions = [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }]
const kind = defineKind({ group: 'example.com', kind: 'Holder', versions })

/** Returns a function that counts compiled schemas. Each call returns the number of schemas that were compiled since the previous call. */
function compilations(t: Test): () => number {
  const { compile } = Ajv.prototype
  let count = 0
  Ajv.prototype.compile = function (this: Ajv, ...args: [never]) {
    count += 1
    return compile.apply(this, args)
  } as typeof compile
  t.teardown(() => (Ajv.prototype.compile = compile))
  return () => {
    const result = count
    count = 0
    return result
  }
}

t.test('built-in types are compiled by the values that need them, and all others after a second, each once', async (t) => {
  const compiled = compilations(t)
  const clock = new FakeClock()
  compileSchemas([kind, kind])
  t.equal(compiled(), 1)
  const stop = compileBuiltinTypes(clock)
  const holder = (container: object): object => ({ spec: { pod: { containers: [{ name: 'a', ...container }] } } })
  const validate = (container: object): number => schemaOf(kind, 'v1').validate(holder(container) as never).length
  t.equal(validate({}), 0)
  t.equal(compiled(), 2, 'PodSpec and Container')
  t.equal(validate({ ports: [{ containerPort: 1 }] }), 0)
  t.equal(validate({ ports: [{ containerPort: 'x' }] }), 1)
  t.equal(compiled(), 1, 'ContainerPort')
  stop()
  await clock.advance(1000)
  t.equal(compiled(), 0)
  compileBuiltinTypes(clock)
  await clock.advance(1000)
  let others = compiled()
  for (let last = others; last > 0; others += last) {
    await setImmediate()
    last = compiled()
    t.ok(last <= 1)
  }
  t.ok(others > 50)
  t.equal(validate({ env: [{ name: 'x', valueFrom: { secretKeyRef: { name: 'x', key: 'x' } } }] }), 0)
  t.equal(compiled(), 0)
})
