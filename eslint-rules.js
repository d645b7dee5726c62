/** Lint rules of this repository that no published plug-in has. */

/** Most names behind a door: more of them are a missing wall. */
const DOOR_NAMES = 15

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

export const pronghornRules = { rules: { 'door-names': doorNames } }
