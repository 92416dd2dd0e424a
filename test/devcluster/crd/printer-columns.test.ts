import t from 'tap'
import { printerColumns } from '../../../src/devcluster/crd/printer-columns.ts'

t.test('a definition without columns has Name and Age', async (t) => {
  for (const columns of [undefined, []])
    t.strictSame(
      printerColumns(columns).map(({ name, type }) => [name, type]),
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
    )
})

t.test('a column has the defaults of kube-apiserver', async (t) => {
  const [name, size, wide] = printerColumns([
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Wide', type: 'string', jsonPath: '.spec.color', format: 'password', description: 'A colour.', priority: 1 },
  ])
  t.equal(name?.name, 'Name')
  const { cell, ...rest } = size!
  t.strictSame(rest, {
    name: 'Size',
    type: 'integer',
    format: '',
    description: 'Custom resource definition column (in JSONPath format): .spec.size',
    priority: 0,
  })
  t.equal(cell({ spec: { size: 3 } }, 0), 3)
  const { cell: _cell, ...other } = wide!
  t.strictSame(other, { name: 'Wide', type: 'string', format: 'password', description: 'A colour.', priority: 1 })
})
