// GDCM fills its dictionaries, the names of some ten thousand elements, whenever a program begins that is linked with it: 18 ms
// for every picture. They are for printing and searching by name, and nothing that is called here asks them.
// These two functions stand in the place of the library's, gdcm::Dict::LoadDefault and gdcm::PrivateDict::LoadDefault, for
// which the program must export them (Scripts/packaging/no-exports.map).

void _ZN4gdcm4Dict11LoadDefaultEv(void *dictionary);
void _ZN4gdcm11PrivateDict11LoadDefaultEv(void *dictionary);

void _ZN4gdcm4Dict11LoadDefaultEv(void *dictionary) { (void)dictionary; }
void _ZN4gdcm11PrivateDict11LoadDefaultEv(void *dictionary) { (void)dictionary; }
