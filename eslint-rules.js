/** Lint rules of this repository that no published plug-in has. */

/** Maximum number of names that an `index.ts` exports. A folder with more names has to be split. */
const DOOR_NAMES = 15

const UPPER_SNAKE = /^[A-Z][A-Z0-9_]*$/

/** Whether an expression is a literal, or arithmetic on literals and constants. */
function isLiteral(node) {
  switch (node?.type) {
    case 'Literal':
      return node.value !== null && typeof node.value !== 'boolean'
    case 'TemplateLiteral':
      return node.expressions.length === 0
    case 'UnaryExpression':
      return isLiteral(node.argument)
    case 'TSAsExpression':
      return isLiteral(node.expression)
    case 'BinaryExpression':
      return [node.left, node.right].every(
        (side) => isLiteral(side) || (side.type === 'Identifier' && UPPER_SNAKE.test(side.name)),
      )
    default:
      return false
  }
}

/** Whether an expression creates an object, an array or an instance. */
function isObject(node) {
  if (node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression')
    return isObject(node.expression)
  return ['ObjectExpression', 'ArrayExpression', 'NewExpression'].includes(node?.type)
}

/** A door, an `index.ts` of a folder, exports at most `DOOR_NAMES` names, each by name. */
const doorNames = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      tooMany: `This door has {{ count }} names. Above ${DOOR_NAMES} a wall is missing: split the folder.`,
      all: 'A door exports its names one by one.',
    },
  },
  create: (context) => ({
    Program(program) {
      let count = 0
      for (const statement of program.body) {
        if (statement.type === 'ExportAllDeclaration' && statement.exported === null) {
          context.report({ node: statement, messageId: 'all' })
        }
        if (statement.type === 'ExportAllDeclaration') count++
        if (statement.type !== 'ExportNamedDeclaration') continue
        const { declaration, specifiers } = statement
        count += specifiers.length + (declaration?.declarations?.length ?? (declaration ? 1 : 0))
      }
      if (count > DOOR_NAMES) context.report({ node: program, messageId: 'tooMany', data: { count } })
    },
  }),
}

/** Literals of a module are UPPER_SNAKE, its objects camelCase. */
const constantStyle = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      literal: '{{ name }} is a literal of the module: UPPER_SNAKE.',
      object: '{{ name }} is an object of the module: camelCase.',
    },
  },
  create: (context) => ({
    VariableDeclaration(declaration) {
      const { parent } = declaration
      const isOfModule = parent.type === 'Program' || parent.type === 'ExportNamedDeclaration'
      if (declaration.kind !== 'const' || !isOfModule) return
      for (const { id, init } of declaration.declarations) {
        if (id.type !== 'Identifier') continue
        const isUpper = UPPER_SNAKE.test(id.name)
        const messageId =
          isLiteral(init) && !isUpper ? 'literal' : isObject(init) && isUpper ? 'object' : undefined
        if (messageId) context.report({ node: id, messageId, data: { name: id.name } })
      }
    },
  }),
}

export const pronghornRules = { rules: { 'door-names': doorNames, 'constant-style': constantStyle } }
